/* A program under test that counts as far as it is told, and ends. */
#include <stdlib.h>

int main(int argc, char **argv) {
	unsigned long most = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	for (volatile unsigned long i = 0; i < most; i++) {
	}
	return 0;
}
