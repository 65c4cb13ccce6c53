import { resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startTestServer } from './support/database.ts'

/** One throwaway server for the whole run, with a template that each test file clones. */
export default async function setup(project: TestProject) {
  // Hundreds of processes are started from the same files: each is compiled once.
  process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, '../node_modules/.cache/compiled')
  const { stop, ...server } = await startTestServer()
  project.provide('server', server)
  return stop
}
