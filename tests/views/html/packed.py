"""What a page embeds, read without its script."""

import gzip
import json
import re
from base64 import b64decode


def block(path):
    """What is embedded, as it stands in the file."""
    text = path.read_text(encoding="utf-8")
    return re.search('<script type="application/gzip" id="numbers">(.*?)</script>', text, re.DOTALL).group(1)


def embedded_in(path):
    """The numbers, the models, and the tables that are made when they are unfolded."""
    return json.loads(gzip.decompress(b64decode(block(path), validate=True)))


def numbers_of(path):
    """What the script reads; of grids, the errors without the limits that it makes of them."""
    return embedded_in(path)["numbers"]
