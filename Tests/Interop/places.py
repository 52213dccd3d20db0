"""Databases of addresses in the format of MaxMind, made for tests."""

import os

import pinned

pinned.use()

from mmdb_writer import MMDBWriter  # noqa: E402
from netaddr import IPSet  # noqa: E402

ZURICH = {
    "country": {"iso_code": "CH", "names": {"en": "Switzerland"}},
    "city": {"names": {"en": "Zurich", "de": "Zürich"}},
    "location": {"latitude": 47.3769, "longitude": 8.5417, "accuracy_radius": 20},
}
NEW_YORK = {
    "country": {"iso_code": "US"}, "city": {"names": {"en": "New York"}},
    "location": {"latitude": 40.7128, "longitude": -74.006},
}
BERLIN = {
    "country": {"iso_code": "DE"}, "city": {"names": {"en": "Berlin"}},
    "location": {"latitude": 52.52, "longitude": 13.405},
}
SWISSCOM = {"autonomous_system_number": 3303, "autonomous_system_organization": "Swisscom"}

IN_ZURICH = "81.2.69.142"
IN_NEW_YORK = "89.160.20.112"
NOWHERE = "8.8.8.8"
# Nobody looks these up, though this database has them.
PRIVATE = ["10.1.2.3", "127.0.0.5", "192.168.1.9", "169.254.7.7", "fd00::7", "::1"]


def city_bytes(path, **networks):
    """Writes a database of cities under another name, and returns its bytes."""
    writer = MMDBWriter(
        ip_version=6, ipv4_compatible=True, database_type="Test-City", float_type="f64")
    entries = {"81.2.69.0/24": ZURICH, "89.160.20.0/24": NEW_YORK, "2001:4860::/32": NEW_YORK,
               **networks}
    for network in ("10.0.0.0/8", "127.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16", "fd00::/8"):
        entries[network] = NEW_YORK
    for network, entry in entries.items():
        writer.insert_network(IPSet([network]), entry)
    return written(writer, path)


def system_bytes(path):
    writer = MMDBWriter(ip_version=6, ipv4_compatible=True, database_type="Test-ASN",
                        int_type="u32")
    writer.insert_network(IPSet(["81.2.0.0/16"]), SWISSCOM)
    return written(writer, path)


def written(writer, path):
    beside = path + ".writing"
    writer.to_db_file(beside)
    with open(beside, "rb") as file:
        data = file.read()
    os.remove(beside)
    return data


def replace(path, data):
    """As an updater does: a whole file is renamed to its place."""
    beside = path + ".new"
    with open(beside, "wb") as file:
        file.write(data)
    os.rename(beside, path)
