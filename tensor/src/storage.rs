//! Storage: bytes on a device, shared by the tensors over them.

use bytemuck::{Pod, Zeroable};
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::sync::atomic::{AtomicU64, Ordering};
use taipan_ir::Device;

/// The unit of allocation, which fixes the alignment.
#[derive(Clone, Copy, Zeroable, Pod)]
#[repr(C, align(64))]
struct Block([u8; 64]);

/// Bytes aligned to 64, with a length of their own.
#[derive(Clone, Default)]
pub struct Bytes {
    blocks: Vec<Block>,
    len: usize,
}

impl Bytes {
    /// Zeros.
    pub fn zeroed(len: usize) -> Bytes {
        Bytes { blocks: bytemuck::zeroed_vec(len.div_ceil(64)), len }
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes as elements; a rest shorter than one is left out.
    pub fn elements<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&bytemuck::cast_slice::<Block, u8>(&self.blocks)[..self.len / size_of::<T>() * size_of::<T>()])
    }

    /// As [`Bytes::elements`].
    pub fn elements_mut<T: Pod>(&mut self) -> &mut [T] {
        let whole = self.len / size_of::<T>() * size_of::<T>();
        bytemuck::cast_slice_mut(&mut bytemuck::cast_slice_mut::<Block, u8>(&mut self.blocks)[..whole])
    }

    /// Changes the length; new bytes are zero.
    pub fn resize(&mut self, len: usize) {
        self.blocks.resize(len.div_ceil(64), Block::zeroed());
        if len > self.len {
            let old = self.len;
            bytemuck::cast_slice_mut::<Block, u8>(&mut self.blocks)[old..len].fill(0);
        }
        self.len = len;
    }
}

/// Memory that tensors share. Its size is its own: it may shrink under live views, and reading beyond it is an error then.
pub struct Storage {
    device: Device,
    version: AtomicU64,
    bytes: RwLock<Bytes>,
}

impl Storage {
    /// A storage over these bytes, version 0.
    pub fn new(device: Device, bytes: Bytes) -> Storage {
        Storage { device, version: AtomicU64::new(0), bytes: RwLock::new(bytes) }
    }

    /// Where the memory lives.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Size in bytes.
    pub fn nbytes(&self) -> usize {
        self.read().len()
    }

    /// How often the storage has been written to.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Counts a write.
    pub fn bump_version(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Puts back an earlier count, when the writes since are taken back too.
    pub fn restore_version(&self, version: u64) {
        self.version.store(version, Ordering::Release);
    }

    /// The bytes, shared. One thread may hold this twice.
    pub fn read(&self) -> RwLockReadGuard<'_, Bytes> {
        self.bytes.read_recursive()
    }

    /// The bytes, alone. The caller counts the write.
    pub fn write(&self) -> RwLockWriteGuard<'_, Bytes> {
        self.bytes.write()
    }

    /// Changes the size in bytes (`UntypedStorage.resize_`).
    pub fn resize(&self, len: usize) {
        self.write().resize(len);
        self.bump_version();
    }
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").field("nbytes", &self.nbytes()).field("version", &self.version()).finish()
    }
}
