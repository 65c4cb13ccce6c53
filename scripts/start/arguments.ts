import { existsSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Wrong usage of a command: exit code 2. The message describes the correct usage. */
export class UsageError extends Error {}

/** readArguments is node's parseArgs; a mistake throws a UsageError of one sentence. */
export function readArguments<T extends ParseArgsConfig>(config: T, help: string) {
  try {
    return parseArgs<T>(config)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(`${error.message.split('. ')[0]?.replace(/\.$/, '')}. ${help}`)
  }
}

/** The parts named among a command's arguments, all of them if none is; another name is a UsageError. */
export function partsIn<Part extends string>(
  parts: Record<Part, unknown>,
  names: string[],
  help: string,
) {
  const isPart = (name: string): name is Part => Object.hasOwn(parts, name)
  const unknown = names.filter((name) => !isPart(name))
  if (unknown.length > 0) {
    const known = Object.keys(parts).join(', ')
    throw new UsageError(`Unknown part: ${unknown.join(', ')}. The parts are ${known}. ${help}`)
  }
  return (names.length > 0 ? names : Object.keys(parts)).filter(isPart)
}

/** The lines of a command's help that say what each part is about. */
export function describeParts(parts: Record<string, { about: string }>): string {
  const width = Math.max(...Object.keys(parts).map((name) => name.length)) + 2
  return Object.entries(parts)
    .map(([name, { about }]) => `  ${name.padEnd(width)}${about}`)
    .join('\n')
}

/** environment returns the process's environment, completed from .env in the current folder. */
export function environment(): Record<string, string | undefined> {
  if (existsSync('.env')) process.loadEnvFile()
  return process.env
}

/** runMain prints an error's message without its stack and exits with 1, or 2 for wrong usage. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exit(error instanceof UsageError ? 2 : 1)
  }
}
