"""Archives in which nothing but their content counts: names sorted, one time, no owner."""

import base64
import gzip
import hashlib
import io
import tarfile
import time
import zipfile


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
    return gzip.compress(content, 9, mtime=0)


def wheel_bytes(files, info, epoch):
    """A wheel of {name: (mode, bytes)}; `info` is its .dist-info folder, whose RECORD is added."""
    record = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name][1]).digest()).rstrip(b"=")
        record.append(f"{name},sha256={digest.decode()},{len(files[name][1])}\n")
    record.append(f"{info}/RECORD,,\n")
    files = {**files, f"{info}/RECORD": (0o644, "".join(record).encode())}
    out = io.BytesIO()
    when = time.gmtime(max(epoch, 315532800))[:6]  # a zip's time begins with 1980
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        # The metadata comes last, as the format recommends.
        for name in sorted(files, key=lambda name: (name.startswith(info), name)):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100000 | files[name][0]) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            wheel.writestr(entry, files[name][1])
    return out.getvalue()
