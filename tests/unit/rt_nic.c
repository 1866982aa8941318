/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a PE gets the NIC nearest to its GPU or its processors, equally
 * near ones are shared evenly, and SHMEM_NIC_MAP has the last word. */
#include "unit.h"

#include "base/env.h"
#include "rt/rt.h"
#include "rt/rt_int.h"
#include "rt/rt_topo.h"

#include <errno.h>
#include <stdarg.h>

/* ---- machines ----
 * Packages of NUMA domains of cores and PCI switches, each of these with a GPU
 * (device 0) and a NIC (device 1, nicN). */

struct shape {
    int packages, domains, cores, switches;     /* domains in a package, ... */
};

static char xml[65536];
static size_t xml_at;

__attribute__((format(printf, 1, 2)))
static void put(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    xml_at += (size_t)vsnprintf(xml + xml_at, sizeof xml - xml_at, fmt, ap);
    va_end(ap);
}

static int next_index;

static void open_object(const char *type, int os_index, unsigned cpus,
                        unsigned nodes)
{
    put("<object type=\"%s\" os_index=\"%d\" cpuset=\"0x%08x\" "
        "complete_cpuset=\"0x%08x\" nodeset=\"0x%08x\" "
        "complete_nodeset=\"0x%08x\" gp_index=\"%d\"", type, os_index, cpus,
        cpus, nodes, nodes, next_index++);
}

static unsigned bits(int first, int n)
{
    return ((1u << n) - 1) << first;
}

static unsigned bus_of(int number)
{
    return (unsigned)number * 8 + 2;
}

static void put_device(int number, int dev, const char *class, const char *os,
                       int os_type)
{
    put("<object type=\"PCIDev\" gp_index=\"%d\" pci_busid=\"0000:%02x:%02x.0\""
        " pci_type=\"%s [15b3:1019] [15b3:0001] 00\" "
        "pci_link_speed=\"0.000000\">\n", next_index++, bus_of(number), dev,
        class);
    put("<object type=\"OSDev\" gp_index=\"%d\" name=\"%s%d\" "
        "osdev_type=\"%d\"/>\n</object>\n", next_index++, os, number, os_type);
}

static void put_switch(int number)
{
    unsigned bus = bus_of(number);

    put("<object type=\"Bridge\" gp_index=\"%d\" bridge_type=\"0-1\" "
        "depth=\"0\" bridge_pci=\"0000:[%02x-%02x]\">\n", next_index++, bus - 1,
        bus + 4);
    put("<object type=\"Bridge\" gp_index=\"%d\" bridge_type=\"1-1\" "
        "depth=\"1\" bridge_pci=\"0000:[%02x-%02x]\" "
        "pci_busid=\"0000:%02x:00.0\" pci_type=\"0604 [1022:1483] [0000:0000] "
        "00\" pci_link_speed=\"0.000000\">\n", next_index++, bus, bus, bus - 1);
    put_device(number, 0, "0302", "gpu", 1);
    put_device(number, 1, "0207", "nic", 3);
    put("</object>\n</object>\n");
}

static void put_domain(const struct shape *s, int number)
{
    int first = number * s->cores;
    unsigned cpus = bits(first, s->cores);

    if (s->domains > 1) {
        open_object("Group", number, cpus, 1u << number);
        put(" kind=\"0\" subkind=\"0\">\n");
    }
    open_object("NUMANode", number, cpus, 1u << number);
    put(" local_memory=\"1073741824\"/>\n");
    for (int i = first; i < first + s->cores; i++) {
        open_object("Core", i, 1u << i, 1u << number);
        put(">\n");
        open_object("PU", i, 1u << i, 1u << number);
        put("/>\n</object>\n");
    }
    for (int i = 0; i < s->switches; i++)
        put_switch(number * s->switches + i);
    put(s->domains > 1 ? "</object>\n" : "");
}

static const char *machine_xml(const struct shape *s)
{
    int in_package = s->domains * s->cores, domains = s->packages * s->domains;

    xml_at = 0;
    next_index = 1;
    put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
        "<topology version=\"2.0\">\n");
    open_object("Machine", 0, bits(0, s->packages * in_package),
                bits(0, domains));
    put(" allowed_cpuset=\"0x%08x\" allowed_nodeset=\"0x%08x\">\n",
        bits(0, s->packages * in_package), bits(0, domains));
    for (int p = 0; p < s->packages; p++) {
        open_object("Package", p, bits(p * in_package, in_package),
                    bits(p * s->domains, s->domains));
        put(">\n");
        for (int d = 0; d < s->domains; d++)
            put_domain(s, p * s->domains + d);
        put("</object>\n");
    }
    put("</object>\n</topology>\n");
    return xml;
}

static hwloc_topology_t machine(const struct shape *s)
{
    hwloc_topology_t topo;

    machine_xml(s);
    hwloc_topology_init(&topo);
    hwloc_topology_set_xmlbuffer(topo, xml, (int)xml_at + 1);
    hwloc_topology_set_io_types_filter(topo, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topo)) {
        perror("hwloc_topology_load");
        exit(1);
    }
    return topo;
}

static const struct shape four = { 2, 2, 4, 1 }, pairs = { 2, 1, 8, 2 };

/* ---- asking ---- */

enum { NICS = 4 };
static struct rt_nic nics[NICS];
static char why[128];

/* In the reverse order of the machine: the place in the list says nothing. */
static void name_nics(bool by_pci)
{
    for (int i = 0; i < NICS; i++) {
        memset(&nics[i], 0, sizeof nics[i]);
        snprintf(nics[i].name, sizeof nics[i].name, by_pci ? "x%d" : "nic%d",
                 NICS - 1 - i);
        nics[i].has_pci = by_pci;
        nics[i].bus = by_pci ? bus_of(NICS - 1 - i) : 0;
        nics[i].dev = by_pci;
    }
}

/* The number of the machine's NIC for a PE bound to those processors. */
static int choose(hwloc_topology_t topo, unsigned cpus, int local,
                  const char *gpu)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int i;

    hwloc_bitmap_from_ulong(set, cpus);
    i = rt_nic_nearest(topo, set, nics, NICS, local, 8, gpu, why, sizeof why);
    hwloc_bitmap_free(set);
    return NICS - 1 - i;
}

/* How many of the PEs first, first + step, ... get each of the NICs. */
static const char *shares(hwloc_topology_t topo, unsigned cpus, int first,
                          int step, int pes)
{
    int n[NICS] = { 0 };
    static char text[64];

    for (int i = 0; i < pes; i++)
        n[choose(topo, cpus, first + i * step, NULL)]++;
    snprintf(text, sizeof text, "%d %d %d %d", n[0], n[1], n[2], n[3]);
    return text;
}

T(each_domain_uses_its_own)
{
    hwloc_topology_t topo = machine(&four);

    T_EQ(hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_NUMANODE), 4);
    for (int by_pci = 0; by_pci < 2; by_pci++) {
        name_nics(by_pci);
        for (int core = 0; core < 16; core++)
            T_EQ(choose(topo, 1u << core, core % 3, NULL), core / 4);
        T_STR(why, "nearest to the processors of this PE");
        T_EQ(choose(topo, 0xf0, 5, NULL), 1);
    }
    hwloc_topology_destroy(topo);
}

T(a_suffix_of_the_library_does_not_hide_a_device)
{
    hwloc_topology_t topo = machine(&four);

    name_nics(false);
    for (int i = 0; i < NICS; i++)
        strcat(nics[i].name, "-rdm");
    T_EQ(choose(topo, 1u << 9, 0, NULL), 2);
    hwloc_topology_destroy(topo);
}

T(the_near_ones_are_shared_evenly)
{
    hwloc_topology_t topo = machine(&pairs);

    name_nics(true);
    T_STR(shares(topo, 0x00ff, 0, 1, 4), "2 2 0 0");    /* 0 1 2 3 */
    T_STR(shares(topo, 0xff00, 4, 1, 4), "0 0 2 2");    /* 4 5 6 7 */
    T_STR(shares(topo, 0x00ff, 0, 2, 4), "2 2 0 0");    /* 0 2 4 6 */
    T_STR(shares(topo, 0xff00, 1, 2, 4), "0 0 2 2");    /* 1 3 5 7 */
    T_STR(shares(topo, 0x0001, 0, 1, 64), "32 32 0 0");
    T_EQ(choose(topo, 0x3, 3, NULL) / 2, 0);
    T_STR(why, "one of 2 equally near to the processors of this PE, by number:"
          " PE 3 of 8 on this node");
    hwloc_topology_destroy(topo);
}

T(a_part_of_the_machine_uses_what_is_in_it)
{
    hwloc_topology_t topo = machine(&four);

    name_nics(true);
    T_STR(shares(topo, 0x00ff, 0, 1, 8), "4 4 0 0");    /* a package */
    T_STR(shares(topo, 0x0ff0, 0, 1, 8), "0 4 4 0");    /* across them */
    hwloc_topology_destroy(topo);
}

T(a_pe_that_is_not_bound_uses_any)
{
    hwloc_topology_t topo = machine(&four);

    name_nics(true);
    T_STR(shares(topo, 0xffff, 0, 1, 4), "1 1 1 1");
    T_STR(shares(topo, 0xffff, 0, 1, 10), "2 2 3 3");   /* more PEs than NICs */
    T_HAS(why, "this PE is not bound, so by number: PE 9 of 8");
    T_STR(shares(topo, ~0u, 0, 1, 8), "2 2 2 2");
    hwloc_topology_destroy(topo);
}

T(the_gpu_comes_before_the_processors)
{
    hwloc_topology_t topo = machine(&pairs);
    char gpu[16];

    name_nics(true);
    for (int g = 0; g < 4; g++) {
        snprintf(gpu, sizeof gpu, "0000:%02x:00.0", bus_of(g));
        T_EQ(choose(topo, 0xffff, 1, gpu), g);
        T_EQ(choose(topo, 1, 0, gpu), g);
        T_STR(why, "nearest to the GPU of this PE");
    }
    T_EQ(choose(topo, 1, 0, "0000:ff:00.0") / 2, 0);    /* not there */
    T_EQ(choose(topo, 1, 0, "nonsense") / 2, 0);
    T_HAS(why, "the processors of this PE");
    hwloc_topology_destroy(topo);
}

T(unknown_nics_are_used_in_turn)
{
    hwloc_topology_t topo = machine(&four);

    name_nics(false);
    for (int i = 0; i < NICS; i++)
        snprintf(nics[i].name, sizeof nics[i].name, "tun%d", i);
    T_STR(shares(topo, 1, 0, 1, 8), "2 2 2 2");
    T_HAS(why, "where the NICs are is not known");
    strcpy(nics[2].name, "nic3");
    T_STR(shares(topo, 1, 0, 1, 8), "0 8 0 0");         /* one is known */
    hwloc_topology_destroy(topo);
}

/* The order after NIC first of the machine, and how many are as near. */
static const char *order(hwloc_topology_t topo, unsigned cpus, int first,
                         const char *gpu)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int list[NICS] = { NICS - 1 - first }, alike;
    static char text[64];

    hwloc_bitmap_from_ulong(set, cpus);
    alike = rt_nic_order_on(topo, set, nics, NICS, gpu, list);
    hwloc_bitmap_free(set);
    snprintf(text, sizeof text, "%d %d %d %d, %d alike", NICS - 1 - list[0],
             NICS - 1 - list[1], NICS - 1 - list[2], NICS - 1 - list[3], alike);
    return text;
}

T(further_nics_are_the_nearest_ones_in_turn)
{
    hwloc_topology_t topo = machine(&pairs);
    char gpu[16];

    name_nics(true);
    T_STR(order(topo, 0x00ff, 0, NULL), "0 1 3 2, 2 alike");
    T_STR(order(topo, 0x00ff, 1, NULL), "1 0 3 2, 2 alike");
    T_STR(order(topo, 0xff00, 2, NULL), "2 3 1 0, 2 alike");
    T_STR(order(topo, 0xffff, 0, NULL), "0 3 2 1, 4 alike");
    T_STR(order(topo, 0xffff, 2, NULL), "2 1 0 3, 4 alike");
    /* SHMEM_NIC_MAP has named a far one: the near ones come next. */
    T_STR(order(topo, 0x00ff, 2, NULL), "2 1 0 3, 4 alike");
    snprintf(gpu, sizeof gpu, "0000:%02x:00.0", bus_of(3));
    T_STR(order(topo, 0x00ff, 3, gpu), "3 2 1 0, 1 alike");
    hwloc_topology_destroy(topo);
}

T(the_machine_is_read_where_there_is_a_choice)
{
    char path[] = "/tmp/unit_nic_XXXXXX";
    struct rt_topo topo;
    uint64_t here[16];
    int fd;

    rt_cpus(here, 16);
    if (here[0] & ~0xfull)
        T_SKIP("this process may run beyond processor 3");
    fd = mkstemp(path);
    machine_xml(&four);
    T_EQ(write(fd, xml, xml_at), (ssize_t)xml_at);
    close(fd);
    unsetenv("HWLOC_COMPONENTS");       /* which would overrule it */
    setenv("HWLOC_XMLFILE", path, 1);
    name_nics(false);
    env.NIC_MAP = "";
    T_EQ(rt_nic_choose(nics, NICS, 2, 8, NULL, why, sizeof why), 3);
    T_STR(why, "nearest to the processors of this PE");
    T_EQ(rt_topo_read(&topo), 0);
    T_EQ(topo.n_nics, 4);
    T_STR(topo.nics[2], "nic2");
    T_EQ(topo.nic_numa[2], 2);
    T_EQ(topo.gpu_numa[3], 3);
    setenv("HWLOC_XMLFILE", "/nonexistent", 1);
    T_EQ(rt_nic_choose(nics, 1, 2, 8, NULL, why, sizeof why), 0);
    T_STR(why, "the only one");
    unsetenv("HWLOC_XMLFILE");
    unlink(path);
}

/* ---- the map ---- */

static int mapped(const char *map, int local)
{
    env.NIC_MAP = map;
    return rt_nic_choose(nics, NICS, local, 8, NULL, why, sizeof why);
}

T(the_map_has_the_last_word)
{
    name_nics(false);           /* nic3, nic2, nic1, nic0 */
    T_EQ(mapped("nic1", 0), 2);
    T_EQ(mapped("nic1", 7), 2);
    T_STR(why, "named by SHMEM_NIC_MAP");
    for (int i = 0; i < 9; i++)
        T_EQ(mapped("nic3,nic1,nic2", i), i % 3 == 0 ? 0 : 3 - i % 3);
    for (int i = 0; i < 8; i++)
        T_EQ(mapped("0-3:nic0,4-6:nic2,7:nic3", i),
             i < 4 ? 3 : i < 7 ? 1 : 0);
    T_EQ(mapped("1:nic2,0:nic1", 0), 2);
    T_EQ(mapped("5-1048575:nic2", 6), 1);
    /* Those it does not name take the nearest. */
    T_EQ(rt_nic_map("5:nic2", nics, NICS, 4), NICS);
    T_LE(0, mapped("5:nic2", 4));
    T_TRUE(strcmp(why, "named by SHMEM_NIC_MAP") != 0);
    strcpy(nics[0].name, "0th:3");      /* a name may look like an entry */
    T_EQ(mapped("0th:3,nic2", 2), 0);
    T_EQ(mapped("1:0th:3", 1), 0);
}

T(an_entry_for_no_pe_of_the_node_is_found)
{
    name_nics(false);
    T_EQ(rt_nic_map_stray("nic0,nic1", nics, NICS, 1), -1);
    T_EQ(rt_nic_map_stray("0:nic0,1:nic1", nics, NICS, 2), -1);
    T_EQ(rt_nic_map_stray("0-7:nic0", nics, NICS, 2), -1);
    T_EQ(rt_nic_map_stray("0-1:nic0,2-3:nic1", nics, NICS, 2), 2);
    T_EQ(rt_nic_map_stray("9:nic0,0:nic1", nics, NICS, 9), 9);
    strcpy(nics[0].name, "5:nic");      /* no number of a PE */
    T_EQ(rt_nic_map_stray("5:nic,nic2", nics, NICS, 2), -1);
}

T(the_form_of_a_map_needs_no_nics)
{
    static const char *const good[] = {
        "", "abc", "a,b", "0:a", "0-3:a,4:b", "2nd", "2nd,a:b"
    };
    static const char *const bad[] = {
        ",", "a,", "0:", "3-1:a", "0:a,b", "b,0:a", "0:a,0:b", "1x:a"
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        env.NIC_MAP = good[i];
        T_EQ(rt_nic_map_check(), 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *said;
        int rc;

        env.NIC_MAP = bad[i];
        unit_capture();
        rc = rt_nic_map_check();
        said = unit_captured();
        T_EQ(rc, -EINVAL);
        T_HAS(said, "SHMEM_NIC_MAP, character ");
        T_HAS(said, "; want NIC,NIC,... or PE:NIC,PE-PE:NIC,... [S-E-ENV]\n");
        T_TRUE(!strstr(said, "NICs here"));
    }
    env.NIC_MAP = "";
}

T(a_bad_map_is_reported)
{
    static const struct {
        const char *map, *said;
    } bad[] = {
        { ",", "character 1: \"\" names no NIC" },
        { "nic0,", "character 6: \"\" names no NIC" },
        { "nic0,,nic1", "character 6: \"\" names no NIC" },
        { "0:", "character 1: \"0:\" names no NIC" },
        { "nic0,cxi9", "character 6: \"cxi9\" names a NIC that is not there" },
        { "0-3:cxi9,4:nic0", "character 5: \"cxi9\" names a NIC that is not there" },
        { "0:nic0,1:nic", "character 10: \"nic\" names a NIC that is not" },
        { "nic0 ", "character 1: \"nic0 \" names a NIC that is not there" },
        { "0", "character 1: \"0\" lacks a colon" },
        { "0-3", "\"0-3\" lacks a colon" },
        { "0-3nic0", "\"0-3nic0\" lacks a colon" },
        { "0 :nic0", "\"0 :nic0\" lacks a colon" },
        { "3-0:nic0", "\"3-0:nic0\" is no range of PEs like 0-3" },
        { "0-:nic0", "\"0-:nic0\" is no range" },
        { "0--1:nic0", "\"0--1:nic0\" is no range" },
        { "0-1048576:nic0", "is no range" },
        { "99999999999999999999:nic0", "is no number of a PE" },
        { "0:nic0,nic1", "character 8: \"nic1\" mixes entries with and" },
        { "nic1,0:nic0", "character 6: \"0:nic0\" mixes entries with and" },
        { "0-3:nic0,2-7:nic1", "character 10: \"2-7:nic1\" names PEs a second" },
    };

    name_nics(false);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *said;
        int rc;

        unit_capture();
        rc = mapped(bad[i].map, 2);
        said = unit_captured();
        T_EQ(rc, -EINVAL);
        T_HAS(said, "SHMEM_NIC_MAP, character ");
        T_HAS(said, bad[i].said);
        T_HAS(said, "; NICs here: nic3, nic2, nic1, nic0; want ");
        T_HAS(said, " [S-E-ENV]\n");
        T_EQ(unit_lines(said), 1);
    }
}

/* hwloc unloads its plug-ins with the last topology.  What libpciaccess, which
 * one of them brings, keeps in its static data then has no owner, and a
 * leak checker has no name for who left it: a topology that stays keeps both
 * loaded. */
static hwloc_topology_t stays;

int main(void)
{
    hwloc_topology_init(&stays);
    T_RUN(each_domain_uses_its_own);
    T_RUN(a_suffix_of_the_library_does_not_hide_a_device);
    T_RUN(the_near_ones_are_shared_evenly);
    T_RUN(a_part_of_the_machine_uses_what_is_in_it);
    T_RUN(a_pe_that_is_not_bound_uses_any);
    T_RUN(the_gpu_comes_before_the_processors);
    T_RUN(unknown_nics_are_used_in_turn);
    T_RUN(further_nics_are_the_nearest_ones_in_turn);
    T_RUN(the_machine_is_read_where_there_is_a_choice);
    T_RUN(the_map_has_the_last_word);
    T_RUN(an_entry_for_no_pe_of_the_node_is_found);
    T_RUN(the_form_of_a_map_needs_no_nics);
    T_RUN(a_bad_map_is_reported);
    return T_DONE();
}
