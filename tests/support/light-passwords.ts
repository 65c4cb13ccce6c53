import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** Of a password's hash, as tests/hub/auth/password-cost.test.ts holds it, in a process without this. */
const PASSWORD_N = 2 ** 17
const LIGHT_N = 2 ** 10
const isLight = Symbol.for('watchpost.light-passwords')

/**
 * Hashing a password takes half a second of a processor, by design. What tests do with passwords
 * does not depend on that, so in these processes it is the same work with less of it.
 */
if (!Reflect.has(crypto.scrypt, isLight)) {
  const { scrypt } = crypto
  const light: typeof scrypt = (
    password: crypto.BinaryLike,
    salt: crypto.BinaryLike,
    length: number,
    cost: crypto.ScryptOptions | ((error: Error | null, key: NonSharedBuffer) => void),
    done: (error: Error | null, key: NonSharedBuffer) => void = () => {},
  ) => {
    if (typeof cost === 'function') return scrypt(password, salt, length, cost)
    const N = cost.N === PASSWORD_N ? LIGHT_N : cost.N
    return scrypt(password, salt, length, { ...cost, ...(N ? { N } : {}) }, done)
  }
  crypto.scrypt = Object.assign(light, { [isLight]: true })
  syncBuiltinESMExports()
}
