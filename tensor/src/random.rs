//! Random streams: the generators of a context.

use taipan_ir::OpError;

/// PyTorch's seed where none was set.
pub const DEFAULT_SEED: u64 = 67280421310721;

const N: usize = 624;
const M: usize = 397;

/// The Mersenne Twister of 32 bits, as PyTorch's CPU generator runs it.
#[derive(Clone, PartialEq, Eq)]
pub struct Twister {
    seed: u64,
    state: Box<[u32; N]>,
    /// Words left in the block.
    left: u32,
    next: u32,
    /// The second number of a pair of normals.
    spare_f32: Option<u32>,
    spare_f64: Option<u64>,
}

impl Twister {
    /// A stream of this seed, whose low 32 bits count.
    pub fn new(seed: u64) -> Twister {
        let mut state = Box::new([0u32; N]);
        state[0] = seed as u32;
        for i in 1..N {
            let last = state[i - 1];
            state[i] = 1812433253u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(i as u32);
        }
        Twister { seed, state, left: 1, next: 0, spare_f32: None, spare_f64: None }
    }

    /// The seed it was made with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// 32 random bits.
    pub fn bits32(&mut self) -> u32 {
        self.left -= 1;
        if self.left == 0 {
            self.refill();
        }
        let mut y = self.state[self.next as usize];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// 64 random bits, the high half drawn first.
    pub fn bits64(&mut self) -> u64 {
        let high = u64::from(self.bits32());
        high << 32 | u64::from(self.bits32())
    }

    fn refill(&mut self) {
        let mix = |u: u32, v: u32| {
            let joined = (u & 0x8000_0000) | (v & 0x7fff_ffff);
            (joined >> 1) ^ if v & 1 == 1 { 0x9908_b0df } else { 0 }
        };
        for i in 0..N {
            let twisted = mix(self.state[i], self.state[(i + 1) % N]);
            self.state[i] = self.state[(i + M) % N] ^ twisted;
        }
        self.left = N as u32;
        self.next = 0;
    }

    /// Uniform in `[0, 1)` with 24 bits.
    pub fn uniform_f32(&mut self) -> f32 {
        (self.bits32() & 0x00ff_ffff) as f32 * (1.0 / 16_777_216.0)
    }

    /// Uniform in `[0, 1)` with 53 bits.
    pub fn uniform_f64(&mut self) -> f64 {
        (self.bits64() & ((1 << 53) - 1)) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A standard normal, drawn in pairs.
    pub fn normal_f64(&mut self) -> f64 {
        if let Some(bits) = self.spare_f64.take() {
            return f64::from_bits(bits);
        }
        let angle = self.uniform_f64();
        let distance = self.uniform_f64();
        let radius = (-2.0 * (-distance).ln_1p()).sqrt();
        let theta = 2.0 * std::f64::consts::PI * angle;
        self.spare_f64 = Some((radius * theta.sin()).to_bits());
        radius * theta.cos()
    }

    /// The state as words, for `get_state`.
    pub fn to_words(&self) -> Vec<u64> {
        let mut words = vec![self.seed, u64::from(self.left), u64::from(self.next)];
        words.push(self.spare_f32.map_or(0, |b| 1 << 32 | u64::from(b)));
        words.push(u64::from(self.spare_f64.is_some()));
        words.push(self.spare_f64.unwrap_or(0));
        words.extend(self.state.iter().map(|w| u64::from(*w)));
        words
    }

    /// Reads what [`Twister::to_words`] gave.
    pub fn from_words(words: &[u64]) -> Result<Twister, OpError> {
        let [seed, left, next, spare_f32, has_f64, spare_f64, state @ ..] = words else { return Err(bad_state()) };
        let state: Vec<u32> = state.iter().map(|w| *w as u32).collect();
        let state: Box<[u32; N]> = state.into_boxed_slice().try_into().map_err(|_| bad_state())?;
        if *left == 0 || *left > N as u64 || *next > N as u64 || (*next + *left > N as u64 + 1) {
            return Err(bad_state());
        }
        Ok(Twister {
            seed: *seed,
            state,
            left: *left as u32,
            next: *next as u32,
            spare_f32: (*spare_f32 >> 32 != 0).then_some(*spare_f32 as u32),
            spare_f64: (*has_f64 != 0).then_some(*spare_f64),
        })
    }
}

fn bad_state() -> OpError {
    OpError::runtime("RNG state is wrong size")
}

/// The generators of one context, by number; number 0 is the default one.
#[derive(Clone, PartialEq, Eq)]
pub struct Generators {
    all: Vec<Twister>,
}

impl Generators {
    /// The default generator, seeded (`torch.manual_seed`).
    pub fn seed(&mut self, seed: u64) {
        self.all[0] = Twister::new(seed);
    }

    /// A new generator; its number.
    pub fn add(&mut self) -> u32 {
        self.all.push(Twister::new(DEFAULT_SEED));
        self.all.len() as u32 - 1
    }

    /// Generator number `index`.
    pub fn get(&mut self, index: u32) -> Result<&mut Twister, OpError> {
        self.all.get_mut(index as usize).ok_or_else(|| OpError::runtime(format!("there is no generator {index}")))
    }
}

impl Default for Generators {
    fn default() -> Generators {
        Generators { all: vec![Twister::new(DEFAULT_SEED)] }
    }
}
