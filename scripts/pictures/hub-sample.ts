/** Made-up data of a small company, for pictures of the hub. */
import pg from 'pg'
import { z } from 'zod'

const FIRST = 'Ayşe Mehmet Zeynep Emre Elif Çağrı Gülşah İsmail Hans Claire Marco Ingrid'.split(' ')
const LAST = 'Yılmaz Kaya Demirtaş Çelik Şahin Öztürk Arslan Müller Dubois Rossi Lindström'.split(
  ' ',
)
const COMPANIES = [
  ['Trakya Soğuk Zincir', 'trakya.example', 'Türkiye'],
  ['Nordfracht GmbH', 'nordfracht.example', 'Deutschland'],
  ['Thessaly Cold Storage', 'thessaly.example', 'Ελλάδα'],
  ['Anadolu Nakliyat A.Ş.', 'anadolu.example', 'Türkiye'],
  ['Transalp SARL', 'transalp.example', 'France'],
  ['Karadeniz Taşımacılık', 'karadeniz.example', 'Türkiye'],
  ['Baltic Haulage', 'baltic.example', 'Polska'],
] as const
const TITLES = ['Operations manager', 'Head of logistics', 'Fleet manager', 'Managing director']
const STAGES = 'new new new contacted contacted replied meeting proposal won lost'.split(' ')
const TAGS = ['fair 2026', 'cold chain', 'export']

/** Somebody of the import, met again. */
export const TWICE = {
  name: 'Elif Rossi',
  email: 'e.rossi@mail.example',
  company: 'Trakya Soğuk Zincir',
  title: 'Operations manager',
  phone: '+90 532 000 00 00',
  source: 'Business card',
  score: 24,
}

export const FACT = 'Your fleet grew to 42 reefer trucks this spring.'

/** The rows of an import: a header, `count` leads and one row that cannot be imported. */
export function sampleLeads(count: number): string {
  const rows = Array.from({ length: count }, (_, at) => {
    const [company, domain, country] = COMPANIES[at % COMPANIES.length] ?? COMPANIES[0]
    const name = `${FIRST[at % FIRST.length]} ${LAST[(at * 7) % LAST.length]}`
    const email = `${mailbox(name)}@${domain}`
    const title = TITLES[at % TITLES.length]
    const score = 20 + ((at * 37) % 80)
    return [name, email, company, title, country, score, TAGS[at % TAGS.length]].join(';')
  })
  const wrong = 'Deniz Koç;deniz at karadeniz;Karadeniz Taşımacılık;Fleet manager;Türkiye;50;export'
  return ['Name;E-mail;Company;Title;Country;Score;Tags', ...rows, wrong].join('\r\n')
}

function mailbox(name: string): string {
  const plain = name.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '')
  return plain.replaceAll('ı', 'i').replaceAll(' ', '.')
}

/** Calls the hub's API; a refusal is thrown with its message. */
export type Call = (method: string, path: string, body?: unknown) => Promise<unknown>

/** fillProject fills the project `demir` with leads, their history, drafts and settings. */
export async function fillProject(
  call: Call,
  databaseUrl: string,
): Promise<{ lead: string; draft: string }> {
  await call('PUT', 'settings/mail', {
    smtp: {
      host: 'mail.demir.example',
      port: 465,
      security: 'tls',
      user: 'ayse',
      password: 'of no server',
    },
    daily_cap: 80,
  })
  await call('PUT', 'projects/brand', {
    slug: 'demir',
    sender_name: 'Ayşe Demir',
    sender_email: 'ayse@demir.example',
    signature: 'Ayşe Demir\nManaging director',
    postal_address: 'Demir Lojistik, Liman Cad. 1, İzmir',
  })
  await call('POST', 'suppression/add', { emails: ['no.more@baltic.example'] })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(`select set_config('hub.project', '*', false)`)
    await client.query(
      `update hub.leads as lead
       set stage = ($1::text[])[1 + at % $2], created_at = now() - make_interval(hours => at * 9),
         updated_at = now() - make_interval(hours => at * 5), lawful_basis = 'legitimate_interest'
       from (select id, row_number() over (order by score desc, id)::int as at from hub.leads) as place
       where lead.id = place.id`,
      [STAGES, STAGES.length],
    )
    const { rows } = await client.query<{ id: string }>(
      `with chosen as (select * from hub.leads where company = 'Trakya Soğuk Zincir' order by score desc limit 1)
       insert into hub.evidence (project_id, lead_id, fact, quote, source)
       select project_id, null, $1, 'With 42 reefer trucks we now serve all of Marmara.',
         'https://trakya.example/news'
       from chosen returning (select id from chosen) as id`,
      [FACT],
    )
    const lead = rows[0]?.id ?? ''
    await call('POST', 'lead/note', {
      lead_id: lead,
      text: 'Met at the fair. Empty on the way back from Thessaloniki.',
    })
    await call('POST', 'lead/task', {
      lead_id: lead,
      title: 'Send the pilot offer',
      due_on: inDays(2),
    })
    await call('POST', 'lead/task', {
      lead_id: lead,
      title: 'Ask for the lanes of May',
      due_on: inDays(-1),
    })
    const draft = await addDrafts(call, lead)
    return { lead, draft }
  } finally {
    await client.end()
  }
}

async function addDrafts(call: Call, lead: string): Promise<string> {
  for (const subject of ['After the fair', 'Cold chain to Thessaloniki']) {
    await call('POST', 'draft/create', {
      project: 'demir',
      audience: { kind: 'list', filter: { tag: 'fair 2026' } },
      subject,
      text: 'Hello {first_name},\n\nit was good to meet you at the fair.\n\nWould a short call suit you?',
    })
  }
  const made = await call('POST', 'draft/create', {
    project: 'demir',
    audience: { kind: 'lead', lead_id: lead },
    subject: 'Fewer empty kilometres on the way back',
    text: `Hello {first_name},\n\n${FACT} We fill the way back from Thessaloniki with pharma loads, booked the evening before.\n\nWould a short call next week suit you?`,
  })
  const { id } = z.object({ draft: z.object({ id: z.string() }) }).parse(made).draft
  await call('POST', 'draft/render', { id, project: 'demir' })
  return id
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
}
