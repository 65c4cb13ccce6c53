import type { AgentName } from '../../../hub/agents/names.ts'
import type { Language } from '../../../shared/words/texts.ts'

/** A lead of a task's project, with what is known about it. */
export type GivenLead = {
  name: string
  company: string
  email: string
  country?: string
  stage?: string
  facts?: string[]
}

/** What a project holds before its task begins. */
export type World = {
  context: { value_proposition: string; tone: string; icp: string }
  leads: GivenLead[]
  /** Files of the project's folder. */
  files: Record<string, string>
  /** Tasks of missions that failed before. */
  failed: string[]
}

/** Every part that is named must be there; what is not named is not looked at. */
export type Wants = {
  /** `done`; `failed`: it must ask or refuse; `asks`: it waits for an approval or refuses. */
  status: 'done' | 'failed' | 'asks'
  /** Of each group one must be said, in any ending: figures, names, or words of either language. */
  says: string[][]
  /** None of these may be said. */
  never: string[]
  /** Whom the drafts are for, exactly. */
  drafts: string[]
  /** At least so many documents. */
  documents: number
  table: boolean
  chart: boolean
  patch: boolean
  /** The companies the result may name; every other lead is somebody else's business. */
  about: string[]
  /** Figures that follow from the given ones; `free`: the result is a form or has figures of the hub. */
  numbers: number[] | 'free'
}

/** A task as people write it, in both languages, with its project and what a useful result has. */
export type Task = {
  name: string
  task: Record<Language, string>
  given?: Partial<World>
  input?: {
    text?: string
    files?: string[]
    /** The hub writes the message in its own language, which is that of the task. */
    alert?: { kind: string; message: Record<Language, string> }
  }
  settings?: { engineer_system?: boolean; web?: 'ask' | 'allow' | 'deny' }
  wants: Partial<Wants>
}

export type Book = Record<AgentName, Task[]>

/** The project of a task that names no other. */
export const WORLD: World = {
  context: {
    value_proposition:
      'We plan delivery routes. Our customers drive 18 % fewer kilometres. Setup takes 5 days. A licence costs 40 euros per vehicle and month.',
    tone: 'Plain and friendly.',
    icp: 'Logistics companies with 20 to 200 vehicles.',
  },
  leads: [
    {
      name: 'Ayşe Demir',
      company: 'Demir Lojistik',
      email: 'ayse@demir.example',
      country: 'Türkiye',
      facts: [
        'Demir Lojistik runs 40 refrigerated trucks from Bursa.',
        'Demir Lojistik delivers food to supermarkets every night.',
      ],
    },
    {
      name: 'Hans Müller',
      company: 'Müller Spedition',
      email: 'hans@mueller.example',
      country: 'Germany',
      stage: 'contacted',
      facts: ['Müller Spedition has 65 vans in Hamburg.'],
    },
    {
      name: 'Zeynep Aksu',
      company: 'Aksu Gıda',
      email: 'zeynep@aksu.example',
      country: 'Türkiye',
      facts: ['Aksu Gıda has 12 delivery vans in Izmir.'],
    },
    {
      name: 'John Carter',
      company: 'Carter Freight',
      email: 'john@carter.example',
      country: 'United Kingdom',
      stage: 'won',
    },
  ],
  files: {
    'docs/prices.md':
      '# Prices\n\nBasic costs 40 euros and Plus 60 euros per vehicle and month. The minimum is 10 vehicles. Invoices are due after 14 days.\n',
    'docs/returns.md':
      '# Returning a tracker\n\nTrackers are returned within 30 days. Put the tracker into its box, add the form R7, and send it to the depot in Bursa.\n',
  },
  failed: [],
}

/** The project of a task. */
export function worldOf({ given = {} }: Pick<Task, 'given'>): World {
  return { ...WORLD, ...given, files: { ...WORLD.files, ...given.files } }
}
