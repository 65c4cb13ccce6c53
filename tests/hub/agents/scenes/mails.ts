import type { Scene } from '../run-alone.ts'
import { bare, brief, design, evidence, HONEST, known, lead, MAIL, said } from './material.ts'

/** The agent that writes mails. */
export const MAILS: Record<string, Scene> = {
  'marketing/mail': {
    agent: 'marketing',
    task: said('write to Demir Lojistik', 'Demir Lojistik’e yaz'),
    brief,
    rows: known,
    answers: { 'write 1': MAIL, 'rewrite 1': HONEST, 'design 1': design('letter') },
  },
  'marketing/offer': {
    agent: 'marketing',
    task: said('write an offer to them', 'onlara teklif yaz'),
    input: { filter: { stage: 'won' } },
    website: 'https://rota.example',
    rows: known,
    answers: {
      'write 1': {
        subject: 'Our offer',
        sentences: [
          { text: 'We would be happy to hear from you.', cites: ['none'] },
          { text: 'Shall we talk next week?', cites: ['none'] },
        ],
      },
      'rewrite 1': {
        subject: 'Our offer',
        sentences: [
          { text: 'We would be happy to hear from you.', cites: ['none'] },
          { text: 'Shall we talk next week?', cites: ['none'] },
        ],
      },
      'design 1': design('offer'),
    },
  },
  'marketing/follow-up': {
    agent: 'marketing',
    task: said('write to Demir Lojistik', 'Demir Lojistik’e yaz'),
    rows: [
      [/^select id, name, (company, )?email.*from hub\.leads/, [bare]],
      [/array_position/, []],
      [
        /hub\.recipients as recipient/,
        [
          ['they', '2026-02-20', 'Re: Routes', 'Call us in March.\n\n> We plan routes.'],
          ['we', '2026-02-10', 'Routes', 'We plan routes.'],
          ['note', '2026-02-01', null, `Met at the fair. ${'x'.repeat(900)}`],
          ['happened', '2026-01-01', 'stage', 'contacted'],
          ...Array.from({ length: 5 }, () => ['note', '2025-12-31', null, 'y'.repeat(900)]),
        ].map(([kind, at, subject, text]) => ({ lead_id: bare.id, kind, at, subject, text })),
      ],
      [/from hub\.evidence/, evidence.map((row) => ({ ...row, lead_id: bare.id }))],
      ...(known ?? []).slice(2),
    ],
    answers: { 'write 1': MAIL, 'rewrite 1': MAIL, 'design 1': design('follow_up') },
  },
  'marketing/campaign': {
    agent: 'marketing',
    task: said('a newsletter to everybody', 'herkese bülten'),
    website: 'https://rota.example',
    rows: [[/^select from hub\.leads/, [{}]]],
    answers: {
      'write 1': {
        subject: 'News of March',
        sentences: [
          { text: 'We would be happy to hear from you.', cites: ['none'] },
          { text: 'Have you seen our stand?', cites: ['none'] },
        ],
      },
      'rewrite 1': {
        subject: 'News of March',
        sentences: [
          { text: 'We would be happy to hear from you.', cites: ['none'] },
          { text: 'Have you seen our stand?', cites: ['none'] },
        ],
      },
      'design 1': design('newsletter'),
    },
  },
  'marketing/filter': {
    agent: 'marketing',
    task: said('write', 'yaz'),
    input: { filter: { stage: 'won' } },
    answers: {
      'write 1': {
        subject: 'Thank you',
        sentences: [
          { text: 'Thank you for everything.', cites: ['none'] },
          { text: 'Shall we go on?', cites: ['none'] },
        ],
      },
      'rewrite 1': {
        subject: 'Thank you',
        sentences: [
          { text: 'Thank you for everything.', cites: ['none'] },
          { text: 'Shall we go on?', cites: ['none'] },
        ],
      },
      'design 1': design('newsletter'),
    },
  },
  'marketing/newest': {
    agent: 'marketing',
    task: said('write', 'yaz'),
    rows: [[/l\.stage = 'new'/, [lead]], ...(known ?? []).slice(1)],
    answers: { 'write 1': HONEST, 'rewrite 1': HONEST, 'design 1': design('letter') },
  },
  'marketing/nobody': { agent: 'marketing', task: said('write', 'yaz') },
  'marketing/redesign': {
    agent: 'marketing',
    task: said('another form', 'başka biçim'),
    input: { draft_id: lead.id },
    rows: [
      [
        /^select subject, text, slots, state/,
        [
          {
            subject: 'Hello',
            text: 'Dear Ayşe,\n\nWe plan routes\nfor trucks. Do you?\n\n\nWrite to us.\n\nRegards,',
            slots: null,
            state: 'draft',
            audience: { kind: 'list', filter: {} },
            language: 'en',
          },
        ],
      ],
    ],
    answers: { design: { ...design('newsletter'), highlight: [] } },
  },
  'marketing/redesign-personal': {
    agent: 'marketing',
    task: said('another form', 'başka biçim'),
    input: { draft_id: lead.id },
    rows: [
      [
        /^select subject, text, slots, state/,
        [
          {
            subject: 'Hello',
            text: 'Dear Ayşe,\n\nWe plan routes. Do you?\n\nRegards,',
            slots: null,
            state: 'draft',
            audience: { kind: 'lead', lead_id: lead.id },
            template: 'letter',
            language: 'en',
          },
        ],
      ],
    ],
  },
  'marketing/redesign-slots': {
    agent: 'marketing',
    task: said('another form', 'başka biçim'),
    input: { draft_id: lead.id },
    rows: [
      [
        /^select subject, text, slots, state/,
        [
          {
            subject: 'Hello',
            text: 'x',
            slots: {
              subject: 'Hi',
              greeting: 'Dear you',
              closing: 'Bye',
              question: 'Well?',
              paragraphs: ['One. Two.', 'Three.'],
            },
            state: 'rendered',
            audience: { kind: 'list', filter: {} },
            language: 'en',
          },
        ],
      ],
    ],
    answers: { design: { ...design('newsletter'), highlight: [] } },
  },
  'marketing/redesign-gone': {
    agent: 'marketing',
    task: said('another form', 'başka biçim'),
    input: { draft_id: lead.id },
  },
  'marketing/redesign-sent': {
    agent: 'marketing',
    task: said('another form', 'başka biçim'),
    input: { draft_id: lead.id },
    rows: [
      [
        /^select subject, text, slots, state/,
        [
          {
            subject: 'x',
            text: 'x',
            slots: null,
            state: 'sent',
            audience: { kind: 'list', filter: {} },
            language: 'en',
          },
        ],
      ],
    ],
  },
}
