"""`PIL.ImageDraw`: drawing into images, of which there are none."""

from PIL import refuse, refused_class

ImageDraw = refused_class("PIL.ImageDraw", "ImageDraw")
Draw = refuse
