import { describe, expect, it } from 'vitest'
import { AGENT_NAMES } from '../../../hub/agents/names.ts'
import { languageOfTask } from '../../../hub/agents/run/facts.ts'
import { frameOf } from '../../../hub/agents/run/frames.ts'
import { PHRASES } from '../../../hub/agents/run/phrases.ts'
import { route } from '../../../hub/agents/run/route.ts'
import { tokensOf } from '../../../hub/agents/run/tokens.ts'
import { inflects, wordsOf } from '../../../hub/agents/run/words.ts'
import { fold } from '../../../shared/words/fold.ts'
import { BLIND } from './phrasings/blind.ts'
import { FOOLED_ROUTES } from './phrasings/fooled.ts'
import { KINDS, KINDS_AFTER } from './phrasings/kinds.ts'
import { counted, PHRASINGS } from './phrasings/phrasings.ts'
import { SENTENCES } from './sentences.ts'

const all = AGENT_NAMES.flatMap((agent) =>
  (['en', 'tr'] as const).flatMap((language) =>
    SENTENCES[agent][language].map((task) => ({ agent, language, task })),
  ),
)

describe('tasks in plain words', () => {
  it.each(all)('$agent ($language): $task', ({ agent, task }) => {
    expect(route(task).agent).toBe(agent)
  })

  it('are at least ten for each agent and language, and no copies of the phrases', () => {
    for (const agent of AGENT_NAMES) {
      for (const language of ['en', 'tr'] as const) {
        const tasks = SENTENCES[agent][language].filter((task) => !task.startsWith('/'))
        expect(new Set(tasks).size, `${agent} ${language}`).toBeGreaterThanOrEqual(10)
        const phrases = PHRASES[agent][language].split(',').map((phrase) => phrase.trim())
        for (const task of tasks) expect(phrases).not.toContain(fold(task))
      }
    }
  })

  it('are found in capitals as well, Turkish ones included', () => {
    for (const { agent, task, language } of all) {
      expect(route(task.toLocaleUpperCase(language)).agent, task).toBe(agent)
    }
  })
})

describe('phrasings in the words of other agents', () => {
  it.each([
    ['en', { right: 45, wrong: 0 }],
    ['tr', { right: 45, wrong: 0 }],
  ] as const)('in %s go to their agent at least as often as was measured', (language, floor) => {
    const tasks = FOOLED_ROUTES[language]
    expect(tasks.length).toBeGreaterThanOrEqual(40)
    expect(new Set(tasks.map(([agent]) => agent)).size).toBe(AGENT_NAMES.length)
    const found = tasks.map(([agent, task]) => ({ agent, routed: route(task).agent }))
    const right = found.filter(({ agent, routed }) => routed === agent)
    const wrong = found.filter(({ agent, routed }) => routed !== null && routed !== agent)
    expect(right.length).toBeGreaterThanOrEqual(floor.right)
    expect(wrong.length).toBeLessThanOrEqual(floor.wrong)
  })

  it.each([
    ['written before the kinds of sentences', KINDS, { right: 65, wrong: 1 }],
    ['written after them', KINDS_AFTER, { right: 70, wrong: 1 }],
  ] as const)('%s go to their agent at least as often as was measured', (_, tasks, floor) => {
    expect(tasks.length).toBeGreaterThanOrEqual(60)
    expect(new Set(tasks.map(([agent]) => agent)).size).toBe(AGENT_NAMES.length)
    const found = tasks.map(([agent, task]) => ({ agent, task, routed: route(task).agent }))
    const right = found.filter(({ agent, routed }) => routed === agent)
    const wrong = found.filter(({ agent, routed }) => routed !== null && routed !== agent)
    expect(right.length, JSON.stringify(wrong)).toBeGreaterThanOrEqual(floor.right)
    expect(wrong.length, JSON.stringify(wrong)).toBeLessThanOrEqual(floor.wrong)
  })

  it.each([
    ['FIRST', { right: 71, wrong: 0 }],
    ['SECOND', { right: 66, wrong: 0 }],
    ['THIRD', { right: 64, wrong: 0 }],
    ['UNSEEN', { right: 42, wrong: 4 }],
  ])('typed in a hurry, the %s list, go to their agent as was measured', (list, floor) => {
    const tasks = BLIND.filter((one) => one.list === list)
    expect(new Set(tasks.map(({ agent }) => agent)).size).toBe(AGENT_NAMES.length)
    const found = tasks.map(({ agent, task }) => ({ agent, task, routed: route(task).agent }))
    const right = found.filter(({ agent, routed }) => routed === agent)
    const wrong = found.filter(({ agent, routed }) => routed !== null && routed !== agent)
    expect(right.length, JSON.stringify(wrong)).toBeGreaterThanOrEqual(floor.right)
    expect(wrong.length, JSON.stringify(wrong)).toBeLessThanOrEqual(floor.wrong)
  })

  it('are decided by the kind of their sentence, which the reason quotes', () => {
    const task = 'Is it legal to send marketing mails without consent?'
    expect(route(task)).toMatchObject({ agent: 'legal', decided_by: 'phrases' })
    expect(route(task).candidates[0]?.words).toEqual(['legal', 'consent'])
  })

  it.each([
    ['Summarise docs/contract.md in one page', 'docs'],
    ['docs/sozlesme.md dosyasını bir sayfada özetle', 'docs'],
    ['Write a README.md', 'docs'],
  ])('%s: the name of a file says nothing of the task', (task, agent) => {
    expect(route(task).agent).toBe(agent)
  })
})

describe('phrasings as people write them', () => {
  it('are at least forty for each agent and language, a fifth of them held out', () => {
    for (const agent of AGENT_NAMES) {
      for (const language of ['en', 'tr']) {
        const mine = PHRASINGS.filter((one) => one.list === agent && one.language === language)
        expect(new Set(mine.map(({ task }) => task)).size, agent).toBeGreaterThanOrEqual(40)
        expect(mine.filter(({ is_held_out }) => is_held_out)).toHaveLength(mine.length / 5)
      }
    }
  })

  it('that the phrases were tuned on go to their agent, whatever their subject', () => {
    const astray = PHRASINGS.filter(
      ({ agent, task, is_held_out }) => !is_held_out && route(task).agent !== agent,
    )
    expect(astray.map(({ agent, task }) => `${agent}: ${task} → ${route(task).agent}`)).toEqual([])
  })

  it.each([
    ['ceo', { right: 7, wrong: 0 }],
    ['data', { right: 6, wrong: 2 }],
    ['docs', { right: 7, wrong: 1 }],
    ['engineer', { right: 11, wrong: 2 }],
    ['engineer_system', { right: 12, wrong: 0 }],
    ['finance', { right: 11, wrong: 1 }],
    ['legal', { right: 9, wrong: 3 }],
    ['marketing', { right: 10, wrong: 1 }],
    ['pm', { right: 14, wrong: 0 }],
    ['research', { right: 7, wrong: 1 }],
    ['sales', { right: 13, wrong: 0 }],
    ['subjects', { right: 22, wrong: 2 }],
    ['system', { right: 12, wrong: 1 }],
    ['web_research', { right: 15, wrong: 0 }],
  ])(
    'of %s that are held out go to their agent at least as often as was measured',
    (list, measured) => {
      const held = PHRASINGS.filter((one) => one.is_held_out && one.list === list)
      const { right, wrong } = counted(held)
      expect(right).toBeGreaterThanOrEqual(measured.right)
      expect(wrong).toBeLessThanOrEqual(measured.wrong)
    },
  )

  it('that are held out are measured in every list', () => {
    const lists = new Set(PHRASINGS.filter((one) => one.is_held_out).map(({ list }) => list))
    expect([...lists].sort()).toEqual([...AGENT_NAMES, 'subjects'].sort())
  })
})

describe('ambiguous tasks', () => {
  it.each([
    ['şu teklif için maliyet analizi yap', 'finance'],
    ['write a report about the GDPR', 'legal'],
    ['draft a contract for the campaign agency', 'legal'],
    ['find out how many leads have no e-mail', 'data'],
    ['find law firms in Ankara', 'research'],
    ['find the bug and fix it', 'engineer'],
    ['fix the bug in the hub', 'engineer_system'],
    ['kampanya bütçesi hazırla', 'finance'],
    ['Web sitesi için gizlilik politikası yaz', 'legal'],
    ['strateji dokümanı yaz', 'ceo'],
    ['Write the strategy document for 2027', 'ceo'],
  ])('"%s" is for %s', (task, agent) => {
    expect(route(task).agent).toBe(agent)
  })

  it('with equal points go to the agent whose words are its own', () => {
    const { agent, candidates } = route('budget and campaign')
    expect(candidates.map(({ points }) => points)).toEqual([2, 2])
    expect(agent).toBe('finance')
  })

  it('of which no word is known are left to the model', () => {
    for (const task of ['hello', 'merhaba, nasılsın?', '🙂', '   ', '12 34']) {
      expect(route(task)).toMatchObject({ agent: null, decided_by: 'model' })
    }
  })

  it('with one ordinary word are left to the model, unless the word says it by itself', () => {
    const words = (task: string) => route(task).candidates.map(({ words }) => words)
    expect(route('the price').agent).toBeNull()
    expect(route('prices of the machine')).toMatchObject({ agent: null, decided_by: 'model' })
    expect(route('the budget').agent).toBe('finance')
    expect(route('anything about a machine').reason.en).toBe('“machine” says too little by itself.')
    expect(words('anything about a machine')).toEqual([['machine']])
  })

  it('say by which words they are decided, without those of any sentence', () => {
    expect(route('write a mail about the fair and the price').reason.en).toBe(
      'Marketing was chosen because of “write”, “mail”.',
    )
    expect(route('bütçe ve gider tablosunu hazırla').reason.tr).not.toContain('“ve”')
    expect(route('patch for the hub').candidates[0]?.words).not.toContain('the')
    expect(route('Invoice for Demir Lojistik: 12 hours at 50 euros, 20 % VAT').reason.en).toBe(
      'Finance was chosen because of “Invoice”, “euros”, “VAT”.',
    )
  })

  it('with one weak word for each of two are left to the model', () => {
    expect(route('müşteri için şu metin')).toMatchObject({ agent: null, decided_by: 'model' })
  })
})

it('a language that a task names is the one to write in', () => {
  for (const task of ['write to our leads in Turkish', 'Write a mail, Türkçe yaz', 'turkce yaz']) {
    expect(languageOfTask(task), task).toBe('tr')
  }
  for (const task of [
    'İngilizce yaz: fiyatlar değişti',
    'bu maili ingilizce hazırla',
    'yanıt ver, in English',
  ]) {
    expect(languageOfTask(task), task).toBe('en')
  }
  expect(languageOfTask('find Turkish companies for us')).toBe('en')
})

describe('commands', () => {
  it('/gelistir goes to pm, however it is written and whatever follows', () => {
    for (const task of ['/gelistir', '/geliştir', '/GELİŞTİR', ' /gelistir bütçe fatura NDA']) {
      expect(route(task)).toMatchObject({ agent: 'pm', decided_by: 'command' })
    }
  })

  it('an agent can be called by its name', () => {
    expect(route('/legal bu bir bütçe').agent).toBe('legal')
    expect(route('/nobody NDA').agent).toBe('legal')
  })
})

describe('folding', () => {
  it('takes Turkish letters for their Latin ones and drops what follows an apostrophe', () => {
    expect(fold('IŞIK İğde ÇÖĞÜR ılık Émile')).toBe('isik igde cogur ilik emile')
    expect(wordsOf("Demir Ltd'nin İstanbul’daki ŞUBESİ")).toEqual([
      'demir',
      'ltd',
      'istanbul',
      'subesi',
    ])
  })

  it('knows Turkish endings and softened consonants', () => {
    for (const [word, stem] of [
      ['firmalarindan', 'firma'],
      ['taslagini', 'taslak'],
      ['hesabi', 'hesap'],
      ['sozlesmemizin', 'sozlesme'],
      ['arastirabilir', 'arastir'],
    ] as const) {
      expect(inflects(word, stem, 'tr'), `${stem} in ${word}`).toBe(true)
    }
  })

  it('keeps a short stem from catching its neighbours', () => {
    expect(inflects('bulut', 'bul', 'tr')).toBe(false)
    expect(inflects('country', 'count', 'en')).toBe(false)
    expect(inflects('lawn', 'law', 'en')).toBe(false)
  })
})

it('no phrase holds a letter that folding takes away', () => {
  for (const agent of AGENT_NAMES) {
    for (const list of Object.values(PHRASES[agent])) {
      for (const phrase of list.split(',')) {
        expect(phrase.trim()).toMatch(/^[>!~+]?(?:(?:@[a-z]+|[a-z0-9#]+\*?)[ _]?)+$/)
        expect(phrase.trim()).not.toMatch(/[ _]$/)
      }
    }
  }
})

describe('the kind of a long task', () => {
  const others = (count: number) => 'kelime '.repeat(count)
  const kindOf = (task: string) => frameOf(tokensOf(task))

  it('is found wherever its words stand, and where a part ends is no end', () => {
    for (const before of [0, 99, 149, 650]) {
      const kind = { agent: 'data', from: before, to: before + 1, telling: [before] }
      expect(kindOf(`${others(before)}hangileri`), String(before)).toEqual(kind)
      expect(kindOf(`${others(before)}hangileri ${others(60)}`), String(before)).toBeUndefined()
    }
  })

  it('is that of its first sentence that has one, in the language of that sentence', () => {
    const story = `We met at the fair. ${'He spoke of many things and of his house. '.repeat(40)}`
    expect(route(`${story}Is it legal to send him an invoice?`).agent).toBe('legal')
    expect(route(`${story}Faturayı mail ile bildir`).agent).toBe('marketing')
    expect(route(`Write Hope a mail about the contract. ${story}Is it legal?`).agent).toBe(
      'marketing',
    )
  })

  it('is known in English too where it names Turkish', () => {
    for (const [task, agent] of [
      ['In Turkish, please: are we allowed to record sales calls?', 'legal'],
      ['Are we allowed to record sales calls? Answer in Turkish', 'legal'],
      ['Write Hope a short mail in Turkish: sözleşme ve bütçe hazır', 'marketing'],
      ['Prepare me for the call about the late invoice, in Turkish', 'sales'],
    ] as const) {
      expect(route(task).agent, task).toBe(agent)
    }
  })

  it('takes no longer than its length', () => {
    const tasks = [
      'a. ',
      'is it that we do. ',
      'kelime ',
      'their site ',
      'who are the ',
      '12 ',
    ].map((words) => words.repeat(4000 / words.length))
    const began = performance.now()
    for (const task of tasks) frameOf(tokensOf(task))
    expect(performance.now() - began).toBeLessThan(3000)
  })
})
