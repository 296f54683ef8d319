"""The paper's own numbers, table by table. They are of other collections and queries than any measured here."""

from __future__ import annotations

from fader.experiment.published import PlainTable

FEATURES, AGGREGATION, END_TO_END = (
    "Proximity features compared", "Effect of T, (+) and soft cutoffs", "End to end",
)  # fmt: skip
MEASURES = ["MAP", "MRR", "NDCG@5", "NDCG@10", "Pairswap"]
PUBLISHED = {
    FEATURES: {
        "Web": {
            "Only |S_e|": (0.542, 0.559, 0.641, 0.660, 0.211), "NoProx": (0.559, 0.578, 0.661, 0.675, 0.203),
            "NoProx + IdfUpto": (0.560, 0.581, 0.661, 0.672, 0.221),
            "NoProx + rectangle": (0.563, 0.585, 0.656, 0.675, 0.202),
        },
        "W3C 2005": {
            "Only |S_e|": (0.086, 0.271, 0.310, 0.320, 0.459), "NoProx": (0.172, 0.511, 0.567, 0.567, 0.371),
            "NoProx + IdfUpto": (0.187, 0.521, 0.585, 0.570, 0.373),
            "NoProx + rectangle": (0.188, 0.523, 0.606, 0.606, 0.370),
        },
        "W3C 2006": {
            "Only |S_e|": (0.286, 0.728, 0.718, 0.715, 0.277), "NoProx": (0.468, 0.897, 0.900, 0.877, 0.211),
            "NoProx + IdfUpto": (0.459, 0.884, 0.892, 0.865, 0.222),
            "NoProx + rectangle": (0.477, 0.909, 0.902, 0.879, 0.211),
        },
    },
    AGGREGATION: {
        "Web": {
            "SoftMax": (0.539, 0.557, 0.639, 0.657, 0.216), "SoftOr": (0.357, 0.374, 0.440, 0.460, 0.238),
            "SoftCutoff": (0.575, 0.592, 0.660, 0.675, 0.210), "Sum": (0.576, 0.597, 0.666, 0.681, 0.207),
            "Average": (0.181, 0.188, 0.227, 0.256, 0.292), "SoftCount": (0.554, 0.574, 0.661, 0.675, 0.207),
            "|S_e|": (0.542, 0.559, 0.641, 0.660, 0.211),
        },
        "W3C 2005": {
            "SoftMax": (0.072, 0.270, 0.288, 0.294, 0.516), "SoftOr": (0.075, 0.217, 0.255, 0.299, 0.475),
            "SoftCutoff": (0.204, 0.551, 0.400, 0.610, 0.362), "Sum": (0.207, 0.598, 0.650, 0.614, 0.369),
            "Average": (0.111, 0.311, 0.380, 0.372, 0.437), "SoftCount": (0.195, 0.524, 0.580, 0.590, 0.372),
            "|S_e|": (0.086, 0.271, 0.310, 0.320, 0.459),
        },
        "W3C 2006": {
            "SoftMax": (0.257, 0.710, 0.715, 0.684, 0.304), "SoftOr": (0.214, 0.541, 0.588, 0.610, 0.319),
            "SoftCutoff": (0.463, 0.891, 0.878, 0.861, 0.210), "Sum": (0.516, 0.933, 0.903, 0.894, 0.203),
            "Average": (0.148, 0.302, 0.370, 0.379, 0.364), "SoftCount": (0.456, 0.912, 0.881, 0.855, 0.217),
            "|S_e|": (0.286, 0.728, 0.718, 0.715, 0.277),
        },
    },
    END_TO_END: {
        "Web": {
            "Balog2": (0.452, 0.468, 0.543, 0.565, 0.173), "Macdonald": (0.535, 0.553, 0.616, 0.634, 0.222),
            "Sum": (0.576, 0.597, 0.666, 0.681, 0.207),
        },
        "W3C 2005": {
            "Balog2": (0.214, 0.604, 0.623, 0.617, 0.347), "Macdonald": (0.258, 0.605, 0.620, 0.623, 0.333),
            "Petkova": (0.101, 0.370, 0.371, 0.373, 0.549), "Sum": (0.207, 0.598, 0.650, 0.614, 0.369),
        },
        "W3C 2006": {
            "Balog2": (0.528, 0.925, 0.923, 0.921, 0.190), "Macdonald": (0.510, 0.912, 0.917, 0.903, 0.198),
            "Petkova": (0.318, 0.731, 0.747, 0.751, 0.332), "Sum": (0.516, 0.933, 0.903, 0.894, 0.203),
        },
    },
}  # fmt: skip
NOTE = "Published by the paper for other collections and queries; not comparable with the numbers above."


def list_published(title: str) -> list[PlainTable]:
    """The paper's own numbers for a table."""
    return [
        PlainTable(f"{title}: the paper's {where}", MEASURES, rows, NOTE) for where, rows in PUBLISHED[title].items()
    ]
