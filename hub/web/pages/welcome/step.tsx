import type { ReactNode } from 'react'

/** The heading of one step. */
export function StepHead({ title, text }: { title: string; text: ReactNode }) {
  return (
    <header className="mb-6">
      <h1 className="text-2xl text-balance">{title}</h1>
      <p className="mt-2 text-lg text-muted text-pretty">{text}</p>
    </header>
  )
}

/** A command to run on the server, which a click selects as a whole. */
export function Command({ children }: { children: string }) {
  return (
    <code className="mt-1 block select-all overflow-x-auto rounded-control border border-line bg-surface px-3 py-2 font-mono text-sm">
      {children}
    </code>
  )
}
