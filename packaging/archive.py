"""Archives in which nothing but their content counts: names sorted, one time, no owner."""

import base64
import hashlib
import io
import struct
import tarfile
import time
import zlib

from deflate import deflate


def tar_bytes(files, epoch):
    """A tar of {name: (mode, bytes)} with the folders above them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        folders = {name.rsplit("/", depth)[0] for name in files
                   for depth in range(1, name.count("/") + 1)}
        for name in sorted(folders | set(files)):
            entry = tarfile.TarInfo(name)
            entry.mtime = epoch
            entry.uname = entry.gname = "root"
            if name in files:
                mode, content = files[name]
                entry.mode, entry.size = mode, len(content)
                tar.addfile(entry, io.BytesIO(content))
            else:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
    return out.getvalue()


def gzip_bytes(content):
    """A gzip file without name and time."""
    return (b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + deflate(content)
            + struct.pack("<LL", zlib.crc32(content), len(content) & 0xFFFFFFFF))


def zip_bytes(files, when):
    """A zip of [(name, mode, bytes)] in that order; `when` is a struct_time from 1980 on."""
    date = ((when.tm_year - 1980) << 9 | when.tm_mon << 5 | when.tm_mday) & 0xFFFF
    clock = when.tm_hour << 11 | when.tm_min << 5 | when.tm_sec // 2
    body, listed = [], []
    at = 0
    for name, mode, content in files:
        stream, word = deflate(content), name.encode()
        # Version 2.0, names in UTF-8, deflate.
        facts = struct.pack("<HHHHHLLLHH", 20, 0x800, 8, clock, date, zlib.crc32(content),
                            len(stream), len(content), len(word), 0)
        body.append(b"PK\3\4" + facts + word + stream)
        # Made by Unix, whose mode is the upper half of the attributes.
        listed.append(b"PK\1\2" + struct.pack("<H", 3 << 8 | 20) + facts
                      + struct.pack("<HHHLL", 0, 0, 0, (0o100000 | mode) << 16, at) + word)
        at += len(body[-1])
    index = b"".join(listed)
    end = b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, len(files), len(files), len(index), at, 0)
    return b"".join(body) + index + end


def wheel_bytes(files, info, epoch):
    """A wheel of {name: (mode, bytes)}; `info` is its .dist-info folder, whose RECORD is added."""
    record = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name][1]).digest()).rstrip(b"=")
        record.append(f"{name},sha256={digest.decode()},{len(files[name][1])}\n")
    record.append(f"{info}/RECORD,,\n")
    files = {**files, f"{info}/RECORD": (0o644, "".join(record).encode())}
    # The metadata comes last, as the format recommends.
    order = sorted(files, key=lambda name: (name.startswith(info), name))
    return zip_bytes([(name, *files[name]) for name in order],
                     time.gmtime(max(epoch, 315532800)))
