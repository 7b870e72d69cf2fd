"""Makes the typeface files in this folder: only the characters that this site prints, two weights in one file.

    npm pack @fontsource-variable/vollkorn@5.3.0 && tar xzf fontsource-variable-vollkorn-5.3.0.tgz
    python3 subset.py package/files     # Debian: python3-fonttools python3-brotli
"""

import sys
from io import BytesIO
from pathlib import Path

from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.subset import Options, Subsetter, parse_unicodes
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

ORIGIN = Path(sys.argv[1])
HERE = Path(__file__).parent

# The characters that every page prints; those of code alone are left to the monospaced face.
PLAIN = "20-23,24-2F,30-3B,3D,3F-5B,5D,61-7A,A0,B7,D7,2013,2014,2018,2019,201C,201D,2026"
# Further letters in visitors' texts, loaded where they occur.
PARTS = [
    ("", "latin", PLAIN),
    ("-accents", "latin", "A1-B6,B8-D6,D8-FF,131,152,153,201A,201E,2039,203A,20AC"),
    ("-more-accents", "latin-ext", "100-130,132-151,154-17F,218-21B,1E9E"),
]
NAMES = "zero one two three four five six seven eight nine".split()


def opened(style, part):
    # Keeps the timestamp of the origin, so that the same origin makes the same files.
    return TTFont(ORIGIN / f"vollkorn-{part}-wght-{style}.woff2", recalcTimestamp=False)


def limited(style, part):
    """Two weights and all between them for the roman, one for the italic, with the kerning of the lighter one."""
    light = instantiateVariableFont(opened(style, part), {"wght": 400})
    if style == "italic":
        return light
    both = instantiateVariableFont(opened(style, part), {"wght": (400, 600)})
    both["GPOS"] = light["GPOS"]
    # Saved and reloaded, because the instancer omits tables that the subsetter needs.
    whole = BytesIO()
    both.save(whole)
    whole.seek(0)
    return TTFont(whole, recalcTimestamp=False)


for style, name in [("normal", "roman"), ("italic", "italic")]:
    for suffix, part, signs in PARTS:
        font = limited(style, part)
        if suffix == "":
            # Lining figures, which do not look like letters; in a table those of one width.
            for table in font["cmap"].tables:
                table.cmap.update({0x30 + value: f"{one}.lf" for value, one in enumerate(NAMES)})
            rules = " ".join(f"sub {one}.lf by {one}.tf;" for one in NAMES)
            addOpenTypeFeaturesFromString(font, f"feature tnum {{ {rules} }} tnum;", tables=["GSUB"])
        options = Options()
        options.flavor = "woff2"
        options.hinting = False
        options.layout_features = ["kern", "tnum"] if style == "normal" else ["kern"]
        options.name_IDs = [0, 1, 2, 13, 14]
        options.drop_tables += ["STAT", "gasp"]
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=parse_unicodes(signs))
        subsetter.subset(font)
        font.flavor = "woff2"
        font.save(HERE / f"vollkorn-{name}{suffix}.woff2")
