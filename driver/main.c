#include <stdio.h>

int main(void)
{
    puts("normsweep");
    return 0;
}
