//! Files read back, and broken ones say what is wrong.

use taipan_tensor::{
    Tensor,
    safetensors::{read, write},
};

#[test]
fn a_file_reads_back() {
    let x = Tensor::from_slice(&[1.5f32, -2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
    let turned = x.permuted(&[1, 0]);
    let flags = Tensor::from_slice(&[true, false], &[2]).unwrap();
    let bytes = write([("turned", &turned), ("flags", &flags)], None).unwrap();
    let file = read(&bytes).unwrap();
    assert_eq!(file.tensors.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["flags", "turned"]);
    assert_eq!(file.tensors[1].1.sizes(), [3, 2]);
    assert_eq!(file.tensors[1].1.to_vec::<f32>().unwrap(), turned.to_vec::<f32>().unwrap());
    assert_eq!(file.tensors[0].1.to_vec::<bool>().unwrap(), [true, false]);
}

#[test]
fn corrupt_files_are_errors() {
    let x = Tensor::from_slice(&[1.0f32; 8], &[8]).unwrap();
    let bytes = write([("x", &x)], None).unwrap();
    for (broken, says) in [
        (&bytes[..4], "fewer than the header's length takes"),
        (&bytes[..bytes.len() - 4], "more or fewer bytes"),
        (&b"\xff\xff\xff\xff\xff\xff\xff\x7fnonsense"[..], "header claims more bytes"),
        (&b"\x04\0\0\0\0\0\0\0oops"[..], "not a readable safetensors file"),
    ] {
        let error = read(broken).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
