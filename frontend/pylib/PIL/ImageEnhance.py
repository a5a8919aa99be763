"""`PIL.ImageEnhance`: sharper and brighter images, of which there are none."""

from PIL import refused_class

Brightness, Color, Contrast, Sharpness = [
    refused_class("PIL.ImageEnhance", _name) for _name in (
        "Brightness", "Color", "Contrast", "Sharpness",
    )
]
