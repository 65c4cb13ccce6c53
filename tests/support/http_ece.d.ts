/** The part of http_ece that tests use; it has no types of its own. */
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto'

  type Options = { version: 'aes128gcm'; privateKey: ECDH; authSecret: Buffer }
  const ece: { decrypt: (body: Buffer, options: Options) => Buffer }
  export default ece
}
