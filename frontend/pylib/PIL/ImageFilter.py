"""`PIL.ImageFilter`: filters of images, of which there are none."""

from PIL import refused_class

BoxBlur, Filter, GaussianBlur, Kernel, MedianFilter, UnsharpMask = [
    refused_class("PIL.ImageFilter", _name) for _name in (
        "BoxBlur", "Filter", "GaussianBlur", "Kernel", "MedianFilter", "UnsharpMask",
    )
]
