#ifndef FRESHET_CCRYPTO_SHIM_H
#define FRESHET_CCRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/sha.h>

#endif
