import type { TestProject } from 'vitest/node'
import { startTestServer } from './database.ts'

/** One throwaway server for the whole run, with a template that each test file clones. */
export default async function setup(project: TestProject) {
  const { stop, ...server } = await startTestServer()
  project.provide('server', server)
  return stop
}
