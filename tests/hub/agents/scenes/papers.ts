import type { Scene } from '../run-alone.ts'
import { history, known, outline, said, sections } from './material.ts'

/** Agents that write papers. */
export const PAPERS: Record<string, Scene> = {
  'legal/nda': {
    agent: 'legal',
    task: said(
      'NDA between Rota and Demir Ltd for two years under Turkish law',
      'Rota ile Demir Ltd arasında iki yıllık gizlilik sözleşmesi',
    ),
    answers: {
      slots: {
        party_a: 'Rota',
        party_b: ' Demir Ltd ',
        purpose: 'They exchange the routes of their trucks.',
        term: 'two years',
        survival: 'nine years',
        governing_law: 'Delaware',
      },
    },
  },
  'legal/nda-blank': {
    agent: 'legal',
    task: said('a non-disclosure agreement', 'bir gizlilik anlaşması'),
    answers: {
      slots: {
        party_a: null,
        party_b: null,
        purpose: 'They exchange the routes of their trucks.',
        term: null,
        survival: 'year',
        governing_law: null,
      },
    },
  },
  'legal/kvkk': {
    agent: 'legal',
    task: said('KVKK: we delete after two years', 'KVKK: iki yıl sonra siliyoruz'),
    files: {
      'docs/privacy.md':
        '# Privacy\n\nWe ask for **consent** at the fair. A copy of the notice is handed out.\n\nCoffee is free.',
      'docs/list.md':
        '> This was put together by a program. It is not legal advice, and no lawyer has seen it; have one read it before you sign or rely on it.\n\nVERBİS is done.',
      'docs/logo.png': 'consent in a picture',
    },
    rows: [
      [/^select count\(\*\)::int as leads/, [{ leads: 42, source: 3, basis: 0 }]],
      [
        /^select rendered_subject/,
        [{ subject: 'Hello', text: 'A breach is reported at once. <{unsubscribe_url}>' }],
      ],
    ],
    answers: {
      'answers 1': {
        answers: [
          { id: 'basis', state: 'met', quote: 'everybody has agreed' },
          { id: 'notice', state: 'met', quote: 'A copy of the notice is handed out' },
          { id: 'source', state: 'met', quote: 'We ask for consent at the fair' },
        ],
      },
      'answers 2': {
        answers: [
          { id: 'messages', state: 'open', quote: 'We ask for consent at the fair' },
          { id: 'refusal', state: 'met', quote: 'You can unsubscribe at any time' },
          { id: 'retention', state: 'met', quote: 'we delete after two years' },
        ],
      },
      'answers 3': {
        answers: [
          { id: 'security', state: 'met', quote: 'A breach is reported at once' },
          { id: 'verbis', state: 'met', quote: 'VERBİS is done' },
          { id: 'processors', state: 'met', quote: 'Coffee is free' },
          { id: 'abroad', state: 'unknown', quote: 'A breach is reported at once' },
        ],
      },
    },
  },
  'legal/gdpr': {
    agent: 'legal',
    task: said('GDPR checklist', 'GDPR listesi'),
    answers: {
      'answers 1': { answers: [] },
      'answers 2': { answers: [] },
      'answers 3': { answers: [] },
    },
  },
  'legal/other': {
    agent: 'legal',
    task: said('a privacy policy for GDPR', 'KVKK aydınlatma metni'),
    files: {
      'docs/a.md':
        'Our privacy officer is Ayşe.\n\nAydınlatma metnini Ayşe verir.\n\nWe plan routes for trucks.',
    },
    answers: { outline, ...sections },
  },
  'sales/script': {
    agent: 'sales',
    task: said('call script for Demir Lojistik', 'Ayşe Yılmaz için arama metni'),
    rows: [...history, ...known],
    answers: {
      script: {
        opening: 'Good morning.',
        questions: ['How many trucks?', 'Who plans?'],
        objections: [{ they_say: 'Too dear', we_say: 'It | pays' }],
        closing: 'Shall we meet?',
      },
    },
  },
  'sales/proposal': {
    agent: 'sales',
    task: said(
      'proposal for Demir Lojistik: 40 licenses at 49 EUR',
      'Demir Lojistik’e teklif: 49 EUR ile 40 lisans',
    ),
    rows: known,
    input: { text: 'They want a training.' },
    answers: {
      proposal: {
        title: 'Proposal',
        need: 'Routes',
        solution: 'A planner',
        scope: ['40 licenses'],
        prices: [
          { item: 'License', price: '49 EUR' },
          { item: 'Training', price: '900 EUR' },
          { item: 'Help', price: '' },
        ],
        next_steps: ['Call'],
      },
    },
  },
  'sales/nobody': {
    agent: 'sales',
    task: said('an offer', 'teklif'),
    answers: {
      proposal: {
        title: 'An offer',
        need: 'n',
        solution: 's',
        scope: ['x'],
        prices: [],
        next_steps: ['y'],
      },
    },
  },
  'finance/invoice': {
    agent: 'finance',
    task: said(
      'Invoice for Demir: twelve hours at 1,250.50, a set-up. 20 % VAT, 10 % off',
      'Demir’e fatura: 12 saat, saati 1.250,50, bir kurulum. %20 KDV, %10 indirim',
    ),
    answers: {
      items: [
        {
          title: 'Invoice',
          party: 'Demir',
          currency: 'TRY',
          items: [
            { description: 'Work', quantity: '12', unit: 'hour', unit_price: '1250.50' },
            { description: 'Set-up', quantity: '1', unit: 'piece', unit_price: '999' },
          ],
          discount_percent: '10',
          tax_percent: '20',
          open_points: ['When?'],
        },
        {
          title: 'Invoice',
          party: 'Demir',
          currency: 'TRY',
          items: [
            { description: 'Work', quantity: '12', unit: 'hour', unit_price: '1250.50' },
            { description: 'Set-up', quantity: '7', unit: 'piece', unit_price: '999' },
          ],
          discount_percent: '10',
          tax_percent: '20',
          open_points: ['When?'],
        },
      ],
    },
  },
  'finance/plain': {
    agent: 'finance',
    task: said('a budget: 3 desks at 100', 'bütçe: 3 masa, tanesi 100'),
    answers: {
      items: {
        title: 'Budget',
        party: null,
        currency: 'EUR',
        items: [{ description: 'Desk', quantity: '3', unit: '', unit_price: '100' }],
        discount_percent: null,
        tax_percent: null,
        open_points: [],
      },
    },
  },
  'docs/paper': {
    agent: 'docs',
    task: said('write a guide', 'kılavuz yaz'),
    input: { text: ' ', files: ['docs/a.md'] },
    files: { 'docs/a.md': 'What is known.' },
    answers: { outline, ...sections },
  },
  'docs/no-file': {
    agent: 'docs',
    task: said('write a guide', 'kılavuz yaz'),
    input: { files: ['docs/b.md'] },
  },
  'ceo/okr': {
    agent: 'ceo',
    task: said('OKRs for the quarter', 'çeyrek hedefleri'),
    rows: [
      [/leads_total/, [{ leads_total: 5, won: 1 }]],
      [/as happened/, [{ measure: 'replied', now: 3, before: 5 }]],
    ],
    answers: {
      objectives: {
        title: 'OKR',
        objectives: [
          {
            objective: 'Win customers',
            why: 'We are few.',
            key_results: [{ metric: 'leads_total', target: 900, how: 'fairs' }],
          },
          {
            objective: 'Keep them',
            why: '',
            key_results: [{ metric: 'won', target: 3, how: 'calls' }],
          },
        ],
        risks: ['Winter'],
      },
    },
  },
  'ceo/strategy': {
    agent: 'ceo',
    task: said('a strategy', 'bir strateji'),
    input: { text: 'We are two.' },
    rows: [[/leads_total/, [{ leads_total: 5 }]]],
    answers: {
      outline: { title: 'Plan', headings: ['First', 'Second', 'Third'] },
      ...sections,
      'section 3': { paragraphs: ['x'], points: [] },
    },
  },
  'pm/proposals': {
    agent: 'pm',
    task: said('what went wrong', 'ne ters gitti'),
    rows: [
      [
        /as happened/,
        [
          { measure: 'sent', now: 1200, before: 0 },
          { measure: 'edited', now: 1, before: 2 },
        ],
      ],
      [/count\(\*\) filter/, [{ department: 'sales', done: 3, failed: 2, cancelled: 1 }]],
      [
        /from hub\.missions where status/,
        [{ department: 'sales', task: 'call', reason: 'no model' }],
      ],
      [
        /count\(r\.sent_at\)/,
        [{ subject: 'Routes', sent: 9, replied: 2, bounced: 1, left_list: 0 }],
      ],
      [
        /first_text is not null/,
        [
          {
            subject: 'Routes',
            text: 'We plan routes.\nShall we talk?',
            slots: {},
            language: 'en',
            first_text: 'Routes\nWe are the world leader.\nShall we talk?',
          },
        ],
      ],
      [/from hub\.drafts/, [{ subject: 'Hello', state_reason: 'too long' }]],
    ],
    answers: {
      proposals: {
        findings: ['Too long'],
        proposals: [
          {
            kind: 'prompt',
            agent: 'sales',
            title: 'Be short',
            why: 'They said so',
            rule: 'Write at most ten lines',
          },
          {
            kind: 'process',
            agent: 'pm',
            title: 'Look daily',
            why: 'Late',
            rule: 'Somebody looks each day',
          },
        ],
      },
    },
  },
  'pm/nothing': {
    agent: 'pm',
    task: said('what went wrong', 'ne ters gitti'),
    rows: [
      [/as happened/, []],
      [/count\(\*\) filter/, [{ department: 'docs', done: 3, failed: 0, cancelled: 0 }]],
    ],
  },
}
