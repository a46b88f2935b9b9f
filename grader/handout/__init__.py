"""The students' copy of this repository: made by the teacher, updated and restored by the student.

`contents` says which files are in it, `manifest` is the list of their hashes that it carries.
"""
