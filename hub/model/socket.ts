import { join } from 'node:path'
import type { Paths } from '../config.ts'

/** The kernel's limit for the address of a Unix socket, including its terminating zero. */
const SOCKET_BYTES = 108

/** Where the model process listens. */
export function socketPath(paths: Paths, environment: Record<string, string | undefined>): string {
  const path = environment.HUB_MODEL_SOCKET ?? join(paths.data_dir, 'model.sock')
  if (Buffer.byteLength(path) >= SOCKET_BYTES) {
    throw new Error(`${path} is too long for a socket. Set HUB_MODEL_SOCKET to a shorter path.`)
  }
  return path
}

/** Where downloaded models are stored. */
export function modelsFolder(paths: Paths): string {
  return join(paths.data_dir, 'models')
}
