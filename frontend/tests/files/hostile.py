# Files that try something are refused in words, whatever weights_only says, and nothing in them is executed.
import io
import os

import torch
from torch._archive import Writer

here = os.path.dirname(os.path.abspath(__file__))


def checkpoint(pickle, **records):
    file = io.BytesIO()
    archive = Writer(file)
    archive.write("x/data.pkl", pickle)
    for name, content in records.items():
        archive.write("x/data/" + name.lstrip("_"), content)
    archive.write("x/version", b"3\n")
    archive.close()
    return file.getvalue()


def refused(name, data, **options):
    for weights_only in (None, True, False):
        try:
            torch.load(io.BytesIO(data), weights_only=weights_only, **options)
            print(name, "- was loaded")
            return
        except Exception as error:
            text = f"{type(error).__name__}: {error}".split("\n")[0]
    print(f"{name} - {text[:150]}")


ran = []
torch.ran = ran.append
storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
rebuild = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("

refused("system", checkpoint(b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R."))
refused("system by posix", checkpoint(b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R."))
refused("eval", checkpoint(b"\x80\x02cbuiltins\neval\nX\x03\x00\x00\x001+1\x85R."))
refused("getattr", checkpoint(b"\x80\x02cbuiltins\ngetattr\n."))
refused("own function", checkpoint(b"\x80\x02ctorch\nran\nX\x01\x00\x00\x00a\x85R."))
refused("protocol 4", checkpoint(b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R."))
refused("dtype called", checkpoint(b"\x80\x02ctorch\nfloat32\n)R."))
refused("defaultdict of eval", checkpoint(b"\x80\x02ccollections\ndefaultdict\ncbuiltins\neval\n\x85R."))
refused("instruction of old pickles", checkpoint(b"\x80\x02(ios\nsystem\n."))
refused("extension", checkpoint(b"\x80\x02\x82\x01."))
refused("no stop", checkpoint(b"\x80\x02]q\x00"))
refused("empty pickle", checkpoint(b""))
refused("empty stack", checkpoint(b"\x80\x02."))
refused("no mark", checkpoint(b"\x80\x02t."))
refused("memo", checkpoint(b"\x80\x02h\x05."))
refused("long text", checkpoint(b"\x80\x02X\xff\xff\xff\x7fabc."))
refused("append to a number", checkpoint(b"\x80\x02K\x01K\x02a."))
refused("state for a tensor", checkpoint(b"\x80\x02}}b."))
refused("storage too short", checkpoint(rebuild + storage + b"K\x04tQK\x00K\x04\x85K\x01\x85\x89}tR.", _0=b"\0" * 8))
refused("storage missing", checkpoint(rebuild + storage + b"K\x04tQK\x00K\x04\x85K\x01\x85\x89}tR."))
refused("size beyond storage", checkpoint(rebuild + storage + b"K\x04tQK\x00K\x05\x85K\x01\x85\x89}tR.", _0=b"\0" * 16))
refused("offset beyond storage", checkpoint(rebuild + storage + b"K\x04tQK\x03K\x02\x85K\x01\x85\x89}tR.", _0=b"\0" * 16))
refused("negative stride", checkpoint(rebuild + storage + b"K\x04tQK\x03K\x02\x85J\xff\xff\xff\xff\x85\x89}tR.", _0=b"\0" * 16))
refused("huge size", checkpoint(rebuild + storage + b"K\x04tQK\x00\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x86K\x00K\x00\x86\x89}tR.", _0=b"\0" * 16))
refused("storage of a name", checkpoint(b"\x80\x02X\x05\x00\x00\x00evilsQ."))
refused("another device", checkpoint(rebuild + storage.replace(b"cpu", b"cud").replace(b"\x03\x00\x00\x00cud", b"\x04\x00\x00\x00cuda") + b"K\x04tQK\x00K\x04\x85K\x01\x85\x89}tR.", _0=b"\0" * 16))
refused("no data.pkl", checkpoint(b"").replace(b"data.pkl", b"data.xyz"))
whole = open(os.path.join(here, "model.pt"), "rb").read()
header = whole.index(b"model/data/0") - 30
place = header + 30 + int.from_bytes(whole[header + 26:header + 28], "little") + int.from_bytes(whole[header + 28:header + 30], "little")
refused("flipped byte", whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
refused("legacy", open(os.path.join(here, "legacy.pt"), "rb").read())
print("ran:", ran)


class Settings:
    def __init__(self):
        self.width = 3


# A class is read once the program has said that it may be.
buffer = io.BytesIO()
torch.save({"settings": Settings()}, buffer)
refused("a class", buffer.getvalue())
with torch.serialization.safe_globals([Settings]):
    print(torch.load(io.BytesIO(buffer.getvalue()))["settings"].width)
refused("a class again", buffer.getvalue())
good = checkpoint(rebuild + storage + b"K\x04tQK\x00K\x04\x85K\x01\x85\x89}tR.", _0=b"\0\0\x80?" * 4)
print(torch.load(io.BytesIO(good)))
