/* SPDX-License-Identifier: BSD-3-Clause */
/* The main program of a target without libFuzzer: feeds it each file named, and
 * each file of a directory named. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fed;

static int feed(const char *path)
{
    uint8_t *data = malloc(MOST);
    FILE *f = fopen(path, "rb");
    size_t size;

    if (!f || !data) {
        perror(path);
        return 1;
    }
    size = fread(data, 1, MOST, f);
    fclose(f);
    data = realloc(data, size ? size : 1);
    fprintf(stderr, "%s\n", path);  /* the last one of a crash */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    fed++;
    return 0;
}

static int not_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int feed_all(const char *dir)
{
    struct dirent **entries;
    char path[4096];
    int n = scandir(dir, &entries, not_hidden, alphasort), bad = 0;

    if (n < 0) {
        perror(dir);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
        bad |= feed(path);
        free(entries[i]);
    }
    free(entries);
    return bad;
}

int main(int argc, char **argv)
{
    struct stat st;
    int bad = 0;

    for (int i = 1; i < argc; i++)
        bad |= !stat(argv[i], &st) && S_ISDIR(st.st_mode) ? feed_all(argv[i])
                                                          : feed(argv[i]);
    printf("%s: %d inputs\n", argv[0], fed);
    return bad || !fed;
}
