"""The proof of the speed grading: repeated on one GPU, no verdict differs and none is wrong."""
