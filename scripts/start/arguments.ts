import { existsSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** A command that was written wrongly: exit code 2. Its message says how to write it. */
export class UsageError extends Error {}

/** readArguments is node's parseArgs; a mistake is a UsageError of one short sentence. */
export function readArguments<T extends ParseArgsConfig>(config: T, help: string) {
  try {
    return parseArgs<T>(config)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(`${error.message.split('. ')[0]?.replace(/\.$/, '')}. ${help}`)
  }
}

/** environment is the process's own, completed by a .env in the current folder. */
export function environment(): Record<string, string | undefined> {
  if (existsSync('.env')) process.loadEnvFile()
  return process.env
}

/** runMain ends the process with the error's sentence, without a stack: 1, or 2 for wrong usage. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exit(error instanceof UsageError ? 2 : 1)
  }
}
