"""Makes the fonts of the pictures beside this file: plain Latin in two weights, as the renderer reads no compressed ones.

    npm pack @fontsource-variable/vollkorn@5.3.0 && tar xzf fontsource-variable-vollkorn-5.3.0.tgz
    python3 make.py package/files     # Debian: python3-fonttools python3-brotli
"""

import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

ORIGIN = Path(sys.argv[1]) / "vollkorn-latin-wght-normal.woff2"
DIGITS = dict(zip("0123456789", "zero one two three four five six seven eight nine".split()))

for weight in (400, 600):
    font = instantiateVariableFont(TTFont(ORIGIN), {"wght": weight}, updateFontNames=False)
    if weight == 400:
        # Digits of a hash are lining and of one width.
        for table in font["cmap"].tables:
            for digit, name in DIGITS.items():
                if ord(digit) in table.cmap:
                    table.cmap[ord(digit)] = f"{name}.tf"
    font["OS/2"].usWeightClass = weight
    options = Options()
    options.hinting = False
    options.layout_features = ["kern"]
    options.name_IDs = [0, 1, 2, 6, 13, 14]
    options.drop_tables += ["STAT", "gasp"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[*range(0x20, 0x7F), 0x2019, 0x2026])
    subsetter.subset(font)
    font.flavor = None
    font.save(Path(__file__).parent / f"vollkorn-{weight}.ttf")
