// A program that does nothing: the one that CMake makes the precompiled headers of all tests for.
int main() {}
