import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Tests that read the text of files, drive a browser, or run for hours: they judge no mutants. */
const LEFT_OUT =
  /^tests\/(docs(-demo)?\.test|scripts\/(?!backup|openapi|admin-|replay)|runtimes|supabase\/(?!snippets)|web|hub\/web\/(?!logic))|smollm2|-tiny\.test|edge\.test/

/** Tests that take long for the faults that they alone notice: they judge only what they import. */
const DEAR =
  /^tests\/(scripts\/backup|upgrade|docs-examples|functions\/(jobs\/(preview|crash|faults)|tenants|api\/(malformed|cursors)|scheduling)|sql\/plans|stories\/(tuning|blind))|-kill|\.attack\.test|backup\/restore|web-reader-browser|model\/model\.test/
export const isDear = (test: string) => DEAR.test(test)

/** Tests that replace modules or change the environment for good: `ALONE` of vitest.config.ts. */
const ALONE = /^tests\/hub\/(model|reader)\/|^tests\/hub\/http\/access\.attack/
export const isAlone = (test: string) => ALONE.test(test)

/** Tests for code that they do not import. All entries that match apply. */
const TOPICS: [code: RegExp, tests: string[]][] = [
  [/^shared\/geometry/, ['tests/shared/**/{geometry/*,zone*,preview}.test.ts']],
  [/^(shared\/(?:\w+\/)*static-files|functions\/policy)/, ['tests/functions/node/console.test.ts']],
  [/^shared\/(?:\w+\/)*json/, ['tests/functions/body.attack.test.ts']],
  [
    /^shared\/(?:\w+\/)*addresses/,
    [
      'tests/functions/channels/transport/target*.test.ts',
      'tests/hub/reader/web-reader.attack.test.ts',
    ],
  ],
  [
    /^shared\/(?:\w+\/)*(match-memory|reason|zone-version|link|decide-linked|storm-name)/,
    [
      'tests/shared/**/{decide*,link,match-memory,preview,zone*}.test.ts',
      'tests/functions/jobs/**/flow.test.ts',
    ],
  ],
  [
    /^shared\/(?:\w+\/)*(alert-change|checks|decide)/,
    ['tests/shared/**/{decide*,burst,aftershock,preview}.test.ts'],
  ],
  [
    /^shared\/(?:\w+\/)*page/,
    ['tests/functions/api/**/{rows,cursors*,audit}.test.ts', 'tests/hub/leads/leads.test.ts'],
  ],
  [
    /^functions\/api\/(account|pages\/invite)/,
    ['tests/functions/api/**/{account,account/account*,limits,refusals}.test.ts'],
  ],
  [
    /^functions\/api\/(account\/account-orgs|orgs|pages\/invite)/,
    [
      'tests/functions/api/**/{orgs,limits,account/*.attack}.test.ts',
      'tests/stories/{team,invites}.test.ts',
    ],
  ],
  [
    /^functions\/(api|jobs|channels|openapi)|^sql\/[3-6]|^shared\/(?:\w+\/)*(zone|reason|preview|warn)/,
    ['tests/stories/*.test.ts'],
  ],
  [
    /^functions\/api\/(alerts|events|zone|decisions|explanations)/,
    [
      'tests/functions/api/**/{rows,http,limits,refusals}.test.ts',
      'tests/functions/jobs/**/flow.test.ts',
    ],
  ],
  [
    /^functions\/api\/decisions/,
    ['tests/functions/jobs/**/{preview,linked*,bursts,aftershocks}.test.ts'],
  ],
  [
    /^functions\/api\/(channel|deliveries)/,
    ['tests/functions/api/**/{channels,deliveries,limits}.test.ts'],
  ],
  [
    /drill/,
    ['tests/functions/api/zones/drills*.test.ts', 'tests/functions/channels/golden.test.ts'],
  ],
  [/heartbeat/, ['tests/functions/jobs/**/heartbeat.test.ts']],
  [
    /^functions\/(auth|credential|errors|db|idempotency|transaction|postgres\/|sign-in\/)/,
    [
      'tests/functions/api/**/{forged*,sessions,http,me,idempotency}.test.ts',
      'tests/functions/{sign-in/*,postgres/*}.test.ts',
    ],
  ],
  [
    /^functions\/(app|http|openapi)/,
    ['tests/functions/api/**/{http,refusals}.test.ts', 'tests/functions/openapi.test.ts'],
  ],
  [
    /^functions\/(jobs|channels)/,
    [
      'tests/functions/jobs/**/{flow,crash,slow,purge}.test.ts',
      'tests/functions/channels/**/*.test.ts',
      'tests/functions/api/deliveries.test.ts',
    ],
  ],
  [
    /^(functions\/(mainshocks|jobs\/(swarm|match))|shared\/(?:\w+\/)*(aftershock|burst)|sql\/(33|64))/,
    ['tests/functions/jobs/**/{aftershocks,bursts}.test.ts'],
  ],
  [
    /^(functions|shared|sql)\/.*evidence/,
    [
      'tests/functions/api/evidence*.test.ts',
      'tests/functions/jobs/**/evidence*.test.ts',
      'tests/shared/**/evidence*.test.ts',
    ],
  ],
  [/^functions\/tracing/, ['tests/functions/tracing.test.ts']],
  [/^functions\/mail/, ['tests/functions/mail/*.test.ts']],
  [/^functions\/feeds/, ['tests/functions/feeds/**/*.test.ts']],
  [
    /^(functions\/(api\/changes|news)|shared\/(?:\w+\/)*change)/,
    ['tests/functions/changes.test.ts', 'tests/stories/following.test.ts'],
  ],
  [
    /^(functions\/api\/push|shared\/(?:\w+\/)*push|sql\/37)/,
    ['tests/functions/api/push*.test.ts', 'tests/stories/own-events.test.ts'],
  ],
  [
    /^(functions\/(feeds-out|api\/feed)|sql\/67|shared\/(?:\w+\/)*feed-link)/,
    ['tests/functions/feeds-out/*.test.ts', 'tests/functions/api/feed-links.test.ts'],
  ],
  [/^functions\/api\/mcp/, ['tests/functions/api/mcp*.test.ts']],
  [/^(functions\/api\/audit|sql\/7[05]_)/, ['tests/functions/api/**/{audit,account}.test.ts']],
  [/^sql\/72_/, ['tests/sql/evidence/*.test.ts']],
  [/^sql\/(45|67_escalation)/, ['tests/sql/alerts/*.test.ts']],
  [
    /^sql\/(1[0-5]|2|40|50|6[67]|7[05])/,
    ['tests/sql/people/*.test.ts', 'tests/sql/answers-audit.test.ts'],
  ],
  [
    /^(functions\/api\/changes|functions\/node\/streams|sql\/68_changes)/,
    ['tests/functions/{changes,node/streams}.test.ts'],
  ],
  [/^functions\/api\/zones\//, ['tests/functions/api/zones/*.test.ts']],
  [
    /^(functions\/jobs\/escalate|shared\/(?:\w+\/)*escalat|sql\/67_(escalation|acknowledging))/,
    ['tests/functions/jobs/**/escalate*.test.ts', 'tests/functions/api/acknowledge.test.ts'],
  ],
  [
    /^(sql\/(36_sources|69_operators)|functions\/jobs\/(ingest|loops))/,
    ['tests/functions/operator-acts.attack.test.ts', 'tests/functions/feeds/fetch.test.ts'],
  ],
  [/^sql\/58_drills|^sql\/68_drilling/, ['tests/functions/api/zones/drills*.test.ts']],
  [/^functions\/api\/pages\/status-page/, ['tests/functions/api/pages/status-page.test.ts']],
  [/^functions\/api\/pages\/event-map/, ['tests/stories/looking.test.ts']],
  [
    /^(functions\/api\/whole-thing|shared\/(?:\w+\/)*(issue-words|read-only|same))/,
    ['tests/stories/{drawing,whole-thing}.test.ts'],
  ],
  [
    /^functions\/(service|node|listen|edge)/,
    ['tests/functions/{service,config,postgres/listen}.test.ts'],
  ],
  [
    /^functions\/seal/,
    ['tests/functions/{seal,links}.test.ts', 'tests/functions/api/channels.test.ts'],
  ],
  [/^shared\/(?:\w+\/)*(texts|event-words)/, ['tests/functions/channels/golden.test.ts']],
  [/^functions\/(node\/)?console/, ['tests/functions/node/console.test.ts']],
  [/^functions\/sign-in\/sign-in-page/, ['tests/functions/sign-in/sign-in-page.test.ts']],
  [
    /^shared\/(?:\w+\/)*(problem|route|time|webhook)/,
    [
      'tests/functions/api/**/{http,refusals,limits,channels}.test.ts',
      'tests/functions/values.attack.test.ts',
      'tests/functions/channels/webhook.test.ts',
    ],
  ],
  [
    /^functions\/api\/(docs|mcp|me|sources|audit|analytics)/,
    ['tests/functions/api/**/{refusals,limits,http}.test.ts'],
  ],
  [
    /^functions\/(node\/assets|deps|cloudflare|supabase|config)/,
    ['tests/functions/{service,config}.test.ts', 'tests/functions/api/channels.test.ts'],
  ],
  [/^sql\/[1-6]/, ['tests/sql/{limits,cascades}.test.ts']],
  [/^sql\/1[0-5]/, ['tests/sql/callers.test.ts']],
  [/^sql\/67_acknowledging/, ['tests/{sql,stories}/{deliveries-acts,acts}.test.ts']],
  [/^sql\/35_positions/, ['tests/sql/positions.test.ts']],
  [/^sql\/64_matching/, ['tests/sql/batches.test.ts']],
  [/^sql\/45/, ['tests/sql/near.test.ts']],
  [/^sql\/40_zones/, ['tests/sql/versions.test.ts']],
  [/^sql\/(52|6[0-6])/, ['tests/sql/deliveries*.test.ts']],
  [/^functions\/jobs\/deliver/, ['tests/functions/jobs/**/deliver*.test.ts']],
  [/^sql\/(0|95)/, ['tests/sql/matrix.test.ts', 'tests/functions/api/**/{rows,limits}.test.ts']],
  [
    /^sql\/[12]/,
    [
      'tests/sql/matrix.test.ts',
      'tests/functions/api/**/{account,account/*,orgs,me,limits}.test.ts',
      'tests/functions/api/**/{sessions,forged*}.test.ts',
    ],
  ],
  [
    /^sql\/(3|4)/,
    [
      'tests/sql/{matrix,plans}.test.ts',
      'tests/functions/jobs/**/{flow,preview}.test.ts',
      'tests/functions/api/**/{rows,limits,sources}.test.ts',
    ],
  ],
  [
    /^sql\/(5|6)/,
    [
      'tests/sql/matrix.test.ts',
      'tests/functions/jobs/**/{flow,crash,slow}.test.ts',
      'tests/functions/api/**/{channels,deliveries,redeliver,limits}.test.ts',
      'tests/functions/acts.attack.test.ts',
    ],
  ],
  [
    /^sql\/7/,
    [
      'tests/sql/matrix.test.ts',
      'tests/functions/api/**/{audit,account,account/account*,analytics}.test.ts',
    ],
  ],
  [
    /^sql\/(8|9)/,
    [
      'tests/sql/matrix.test.ts',
      'tests/functions/jobs/purge/purge.test.ts',
      'tests/functions/service.test.ts',
    ],
  ],
  [
    /^hub\/mail\/.*listmonk|^hub\/mail\/(push|campaigns|lists|poll)/,
    ['tests/hub/**/mail-flow-*.test.ts', 'tests/hub/mail/listmonk/*.test.ts'],
  ],
  [
    /^hub\/mail\/.*(imap|poll|outcome)/,
    ['tests/hub/mail/drafts/mail-flow-replies.test.ts', 'tests/hub/mail/imap*.test.ts'],
  ],
  [
    /^hub\/mail\/.*(render|slots|fill|go-template|message|headers)/,
    [
      'tests/hub/mail/render*.test.ts',
      'tests/hub/mail/smtp*.test.ts',
      'tests/hub/mail/drafts/drafts.test.ts',
      'tests/hub/mail/drafts/mail-flow-listmonk.test.ts',
    ],
  ],
  [
    /^hub\/(mail\/(inbox|imap)\/|mail\/opt-outs|api\/mail\/inbox)/,
    ['tests/hub/mail/{inbox,imap}/*.test.ts', 'tests/hub/mail/opt-outs-in-words.test.ts'],
  ],
  [/^hub\/(api\/mail\/|mail\/sequences\/|sql\/.*)sequence/, ['tests/hub/mail/sequences/*.test.ts']],
  [/^hub\/.*brand|^hub\/sql\/11/, ['tests/hub/mail/brand.test.ts', 'tests/hub/branding/*.test.ts']],
  [/^hub\/(api\/)?(members|audit|auth)/, ['tests/hub/{members,audit,auth}/*.test.ts']],
  [/^hub\/(api\/automation|webhooks)\//, ['tests/hub/{mcp,webhooks}/*.test.ts']],
  [
    /^hub\/mail\/|^hub\/sql\/40|^hub\/api\/(draft|mail|suppression|unsubscribe)/,
    [
      'tests/hub/**/drafts*.test.ts',
      'tests/hub/**/mail-{flow,unsubscribe,claim,refusals,today,outcome}.test.ts',
    ],
  ],
  [/^hub\/.*(import|csv)/, ['tests/hub/leads/{leads-import*,leads-export,csv}.test.ts']],
  [
    /^hub\/.*(lead|tasks)|^hub\/sql\/20/,
    ['tests/hub/**/leads*.test.ts', 'tests/hub/**/scope*.test.ts'],
  ],
  [
    /^hub\/.*(backup|restore)/,
    ['tests/hub/**/backup*.test.ts', 'tests/hub/backup/restore-joins.test.ts'],
  ],
  [
    /^shared\/(?:\w+\/)*copy/,
    ['tests/scripts/backup/backup.test.ts', 'tests/hub/backup/backup-scratch.test.ts'],
  ],
  [
    /^hub\/.*(mission|approvals)|^hub\/sql\/3/,
    ['tests/hub/**/missions*.test.ts', 'tests/hub/agents/*.test.ts'],
  ],
  [/^hub\/agents\//, ['tests/hub/agents/*.test.ts']],
  [/^hub\/model/, ['tests/hub/**/model*.test.ts', 'tests/hub/model/*.test.ts']],
  [
    /^hub\/.*(auth|sessions|caller|access|owner|http|app|deps|spec)\.ts/,
    ['tests/hub/**/{access,refusals,system,scope}*.test.ts'],
  ],
  [/^hub\/.*(project|active|archive)/, ['tests/hub/**/projects*.test.ts']],
  [/^hub\/.*license/, ['tests/hub/**/license*.test.ts', 'tests/hub/projects/projects.test.ts']],
  [/^hub\/.*(today|next-actions)/, ['tests/hub/missions/today.test.ts']],
  [
    /^hub\/.*(system|health|doctor|background|settings|service|config|keys)/,
    ['tests/hub/**/{system,cli,service-key}*.test.ts'],
  ],
  [/^hub\/.*search|^hub\/sql\/70/, ['tests/hub/projects/search.test.ts']],
  [/^hub\/sql\//, ['tests/hub/db/schema.test.ts']],
  [/^hub\/sql\/(00|10)/, ['tests/hub/**/{scope*,schema,access,projects,license*}.test.ts']],
  ...[
    'agents',
    'backup',
    'leads',
    'license',
    'missions',
    'model',
    'people',
    'projects',
    'reader',
  ].map((folder): [RegExp, string[]] => [
    new RegExp(`^hub/(api/)?${folder}/`),
    [`tests/hub/${folder}/*.test.ts`],
  ]),
  [/^hub\//, ['tests/hub/**/{words,system,access}.test.ts']],
]

const IMPORTS = /(?:from|import\()\s*'(\.[^']+)'/g
let importers: Map<string, string[]> | undefined

/**
 * The test files that judge the mutants of a source: those that import it, have its path, or are
 * about its topic.
 */
export function testsFor(source: string, root: string): string[] {
  const topics = TOPICS.filter(([code]) => code.test(source))
  // The last entry of the hub is for files without any other.
  const globs = (
    topics.length > 1 ? topics.filter((one) => one !== TOPICS.at(-1)) : topics
  ).flatMap(([, tests]) => tests)
  const found = [
    ...closestTests(source, root),
    ...callersOf(source, root),
    ...globSync(globs, { cwd: root }),
  ]
  return judging(found)
}

/** Those of them that import the source or have its path: they notice most faults, in a fraction of the time. */
export function closestTests(source: string, root: string): string[] {
  importers ??= readImporters(root)
  const mirror = `tests/${source.replace(/\.\w+$/, '')}*.test.ts`
  const rules = source.endsWith('.sql') ? rulesOf(source) : []
  return judging([...rules, ...(importers.get(source) ?? []), ...globSync(mirror, { cwd: root })])
}

/** The tests of the rules that hold for every table of a schema, and of what its functions answer. */
const rulesOf = (source: string) =>
  source.startsWith('hub/')
    ? ['tests/hub/db/schema.test.ts']
    : ['tests/sql/tables.test.ts', 'tests/sql/answers.test.ts', 'tests/sql/answers-alerts.test.ts']

/** Those of some test files that judge mutants. */
export const judging = (files: string[]) =>
  [...new Set(files)].filter((file) => !LEFT_OUT.test(file)).sort()

/** The tests that call the hub's routes of a file in hub/api: those with `leads/` for leads.ts. */
function callersOf(source: string, root: string): string[] {
  const [, noun] = /^hub\/api\/(?:\w+\/)?([a-z]+)/.exec(source) ?? []
  if (!noun) return []
  const call = new RegExp(`['\`/]${noun.replace(/s$/, '')}s?[/?'\`]`)
  const tests = globSync('tests/hub/**/*.test.ts', { cwd: root })
  return tests.filter(
    (test) => !/-kill/.test(test) && call.test(readFileSync(join(root, test), 'utf8')),
  )
}

function readImporters(root: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const test of globSync('tests/**/*.test.ts', { cwd: root })) {
    for (const [, path = ''] of readFileSync(join(root, test), 'utf8').matchAll(IMPORTS)) {
      const source = join(dirname(test), path)
      found.set(source, [...(found.get(source) ?? []), test])
    }
  }
  return found
}
