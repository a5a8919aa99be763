"""`PIL.ImageOps`: changes to images, of which there are none."""

from PIL import refuse

autocontrast = colorize = crop = equalize = exif_transpose = expand = fit = flip = grayscale = invert = mirror = refuse
pad = posterize = scale = solarize = refuse
