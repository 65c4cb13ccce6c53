import type { Language } from '../../i18n/words.ts'
import { inflects, wordsOf } from '../run/words.ts'
import { answerOf, figure } from './answer.ts'
import { knownText } from './known.text.ts'
import type { Table } from './shown.ts'

export type KnownName = keyof typeof knownText.en

type Known = {
  /**
   * The words of the question besides FILLERS, in the ways in which it is put; each word must be
   * there, and no other.
   */
  words: Record<Language, string[]>
  sql: (language: Language) => string
  /** Which questions are worth asking next. */
  next: KnownName[]
}

const named = (column: string) => `"${column}"`
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Leads with a mail that was neither answered nor returned. */
const SILENT = `not exists (
    select from recipients as r
    where r.lead_id = l.id and (r.replied_at is not null or r.bounced_at is not null))
  and l.stage = 'contacted'`

const KNOWN: Record<KnownName, Known> = {
  leads: {
    words: {
      en: ['# lead', '# new lead', '# contact', '# lead new'],
      tr: ['# aday', '# yeni aday', '# musteri aday', '# aday yeni', '# potansiyel musteri'],
    },
    sql: (language) => {
      const { all, fresh } = knownText[language].leads.columns
      return `select count(*) as ${named(all)},
  count(*) filter (where stage = 'new') as ${named(fresh)}
from leads`
    },
    next: ['stages', 'weeks', 'sources'],
  },
  stages: {
    words: {
      en: ['# lead stage', 'lead by stage', 'lead stage', '# lead by stage', 'pipeline'],
      tr: ['asama # aday', 'asama gore aday', 'asama gore # aday', '# aday asama', 'aday asama'],
    },
    sql: (language) => grouped('stage', language, 'stages'),
    next: ['weeks', 'silent', 'sources'],
  },
  weeks: {
    words: {
      en: ['# lead came week', '# new lead week', 'lead by week', 'new lead week', 'lead week'],
      tr: ['hafta # aday gel', 'hafta gore aday', 'haftalik aday', 'haftalik yeni aday'],
    },
    sql: (language) => {
      const { label, n } = knownText[language].weeks.columns
      return `select to_char(date_trunc('week', created_at), 'YYYY-MM-DD') as ${named(label)},
  count(*) as ${named(n)}
from leads
where created_at > now() - interval '12 weeks'
group by 1
order by 1`
    },
    next: ['stages', 'sources', 'mails'],
  },
  sources: {
    words: {
      en: ['where lead come', 'lead by source', '# lead source', 'lead source', 'source lead'],
      tr: ['aday nereden gel', 'kaynak gore aday', 'kaynak # aday', 'aday kaynak'],
    },
    sql: (language) => grouped('source', language, 'sources'),
    next: ['countries', 'stages', 'weeks'],
  },
  countries: {
    words: {
      en: ['country lead', 'lead by country', '# lead country', 'where lead'],
      tr: ['aday ulke', 'ulke gore aday', 'ulke # aday', 'aday nerede'],
    },
    sql: (language) => grouped('country', language, 'countries'),
    next: ['sources', 'stages', 'mails'],
  },
  mails: {
    words: {
      en: ['# mail sent # answer', '# mail sent', '# mail sent # reply', '# reply', '# answer'],
      tr: ['# posta gonderil # yanitla', '# posta gonderil', '# yanit gel', '# posta git'],
    },
    sql: (language) => {
      const { sent, replied, bounced, left } = knownText[language].mails.columns
      return `select count(*) filter (where state = 'sent') as ${named(sent)},
  count(replied_at) as ${named(replied)},
  count(bounced_at) as ${named(bounced)},
  count(unsubscribed_at) as ${named(left)}
from recipients`
    },
    next: ['silent', 'drafts', 'stages'],
  },
  silent: {
    words: {
      en: ['who not answer', 'who not reply', 'lead not answer', 'lead not reply', 'who no reply'],
      tr: [
        'kim yanit verme',
        'kim cevap verme',
        'yanit vermeyen',
        'cevap vermeyen',
        'kim yanitlama',
      ],
    },
    sql: (language) => {
      const { name, company, sent } = knownText[language].silent.columns
      return `select coalesce(l.name, l.email) as ${named(name)}, l.company as ${named(company)},
  to_char(max(sent.sent_at), 'YYYY-MM-DD') as ${named(sent)}
from leads as l
join recipients as sent on sent.lead_id = l.id and sent.sent_at is not null
where ${SILENT}
group by l.id, l.name, l.email, l.company
order by max(sent.sent_at)`
    },
    next: ['mails', 'due', 'stages'],
  },
  due: {
    words: {
      en: ['task due', 'due task', 'open task', 'task open'],
      tr: ['is gun gel', 'acik is', 'gorev gun gel', 'is bekle'],
    },
    sql: (language) => {
      const { title, lead, due } = knownText[language].due.columns
      return `select t.title as ${named(title)}, coalesce(l.company, l.name, l.email) as ${named(lead)},
  t.due_on as ${named(due)}
from tasks as t
left join leads as l on l.id = t.lead_id
where t.done_at is null and (t.due_on is null or t.due_on <= current_date)
order by t.due_on nulls last, t.created_at`
    },
    next: ['silent', 'drafts', 'leads'],
  },
  drafts: {
    words: {
      en: ['# draft', '# draft state', 'draft by state', '# draft wait', 'draft wait'],
      tr: ['durum # taslak', '# taslak', 'durum gore taslak', '# taslak bekle'],
    },
    sql: (language) => {
      const { label, n } = knownText[language].drafts.columns
      return `select state as ${named(label)}, count(*) as ${named(n)}
from drafts
group by 1`
    },
    next: ['mails', 'silent', 'missions'],
  },
  missions: {
    words: {
      en: ['# mission failed last 30 day', '# mission failed'],
      tr: ['son 30 gun # gorev basarisiz', '# gorev basarisiz'],
    },
    sql: (language) => {
      const { done, failed } = knownText[language].missions.columns
      return `select count(*) filter (where status = 'done') as ${named(done)},
  count(*) filter (where status = 'failed') as ${named(failed)}
from missions
where finished_at > now() - interval '30 days'`
    },
    next: ['drafts', 'leads', 'mails'],
  },
}

function grouped(
  column: 'stage' | 'source' | 'country',
  language: Language,
  topic: 'stages' | 'sources' | 'countries',
): string {
  const text = knownText[language][topic]
  const { label, n } = text.columns
  const value = 'none' in text ? `coalesce(${column}, ${quoted(text.none)})` : column
  return `select ${value} as ${named(label)}, count(*) as ${named(n)}
from leads
group by 1
order by 2 desc, 1`
}

/** Words that change nothing about a question. */
const FILLERS: Record<Language, Set<string>> = {
  en: new Set(
    'do did does we have i our my us me the are is there of in at now today currently please show tell give you a an and were was been so far yet has from to get each per which what did all in our every e'.split(
      ' ',
    ),
  ),
  tr: new Set(
    'var bizim benim su an anda simdi bugun lutfen goster soyle listele ver bana bize tane oldu ve hangi henuz her ne olan kadar simdiye e'.split(
      ' ',
    ),
  ),
}
/** How a number is asked for becomes one word. */
const QUANTITY: Record<Language, RegExp> = {
  en: /\b(?:how many|(?:the )?(?:total )?number of|count of|count(?: the)?)\b/g,
  tr: /\b(?:kac(?:i|imiz)?|kac tane|sayi(?:si|miz|lari|sini)?|ne kadar)\b/g,
}

/**
 * knownQuestion returns which of the questions that need no model this is. A question with one word
 * more ("leads in Bursa") is another question.
 */
export function knownQuestion(task: string, language: Language): KnownName | undefined {
  const exact = wordsOf(task).join(' ')
  const said = exact
    .replace(QUANTITY[language], '#')
    .split(' ')
    .filter((word) => !FILLERS[language].has(word))
  const names = Object.keys(KNOWN) as KnownName[] // safe: constant keys
  return (
    names.find((name) => wordsOf(knownText[language][name].ask).join(' ') === exact) ??
    names.find((name) =>
      KNOWN[name].words[language].some((form) => isSame(said, form.split(' '), language)),
    )
  )
}

function isSame(said: string[], form: string[], language: Language): boolean {
  if (said.length !== form.length) return false
  const left = [...said]
  for (const stem of form) {
    const at = left.findIndex((word) =>
      stem === '#' ? word === '#' : word === stem || fits(word, stem, language),
    )
    if (at < 0) return false
    left.splice(at, 1)
  }
  return true
}

const fits = (word: string, stem: string, language: Language) =>
  inflects(word, stem, language) || (stem.length > 4 && word.startsWith(stem))

export function knownSql(name: KnownName, language: Language): string {
  return KNOWN[name].sql(language)
}

/** The answer to a known question in words. */
export function knownAnswer(name: KnownName, table: Table, language: Language): string {
  const text = knownText[language][name]
  const sql = KNOWN[name].sql(language)
  if (!('say' in text)) {
    return answerOf(table, { title: text.ask.replace(/\?$/, ''), sql, is_cut: false, language })
  }
  const figures = (table.rows[0] ?? []).map((cell) => figure(cell, language))
  const say: (...figures: string[]) => string = text.say
  return say(...figures)
}

const ABOUT: Record<string, KnownName[]> = {
  leads: ['leads', 'stages', 'weeks', 'sources'],
  recipients: ['mails', 'silent'],
  tasks: ['due'],
  drafts: ['drafts', 'mails'],
  missions: ['missions'],
}

/** What can be asked next, after a question of that name or about those tables: three questions. */
export function followUps(
  after: { name?: KnownName | undefined; tables: string[] },
  language: Language,
): string[] {
  const next = after.name
    ? KNOWN[after.name].next
    : after.tables.flatMap((table) => ABOUT[table] ?? [])
  const all: KnownName[] = [...next, 'leads', 'stages', 'mails']
  return [...new Set(all)]
    .filter((name) => name !== after.name)
    .slice(0, 3)
    .map((name) => knownText[language][name].ask)
}
