/* adapter.c - stands in for an adapter, as LIBRARY_uv or LIBRARY_ev, and for a
 * program that uses it, as adapter_uv or adapter_ev: the adapter needs the library
 * that it adapts to, and a lawn. */
#include <lawn.h>

bool lawn_uv_stand_in(void);
bool lawn_ev_stand_in(void);

#if defined LIBRARY_uv
#include <uv.h>

bool
lawn_uv_stand_in(void)
{
    struct lawn *lawn = lawn_new(NULL);
    bool good = lawn != NULL && uv_version() > 0;
    lawn_free(lawn);
    return good;
}
#elif defined LIBRARY_ev
#include <ev.h>

bool
lawn_ev_stand_in(void)
{
    struct lawn *lawn = lawn_new(NULL);
    bool good = lawn != NULL && ev_version_major() > 0;
    lawn_free(lawn);
    return good;
}
#elif defined adapter_uv
int
main(void)
{
    return !lawn_uv_stand_in();
}
#elif defined adapter_ev
int
main(void)
{
    return !lawn_ev_stand_in();
}
#endif
