"""The headers that every answer has, errors and files included: nothing loads from elsewhere, nothing is framed.

The page needs no inline script or style and no other host, so the policy allows none; and no text becomes markup
(`require-trusted-types-for`). Knows nothing of what is answered.
"""

from __future__ import annotations

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
DENIED = (
    "accelerometer autoplay camera display-capture encrypted-media fullscreen gamepad geolocation gyroscope hid "
    "idle-detection local-fonts magnetometer microphone midi payment picture-in-picture publickey-credentials-get "
    "screen-wake-lock serial usb xr-spatial-tracking"
).split()
SECURITY = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in DENIED),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

EVERY_ANSWER = [(name.lower().encode(), value.encode()) for name, value in SECURITY.items()]
