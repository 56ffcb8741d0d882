"""The ways in: each derives what it offers from `weft.operations`, and none knows another."""
