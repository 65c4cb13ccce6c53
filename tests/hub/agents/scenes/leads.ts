import type { Scene } from '../run-alone.ts'
import { known, lead, page, said } from './material.ts'

/** Agents that find leads. */
export const LEADS: Record<string, Scene> = {
  'research/table': {
    agent: 'research',
    task: said('import it', 'içeri al'),
    input: {
      text: 'Company,Contact,E-mail,Fleet\nDemir,Ayşe,ayse@demir.example,40\nKaya,,no address,7\nKaya,,,7',
    },
  },
  'research/columns': {
    agent: 'research',
    task: said('import it', 'içeri al'),
    input: { text: 'A,B\nDemir Lojistik,ayse\nKaya Tekstil,mehmet' },
    answers: {
      'columns 1': {
        columns: [
          { column: '1', field: 'company' },
          { column: '2', field: 'none' },
        ],
      },
    },
  },
  'research/prose': {
    agent: 'research',
    task: said(
      'At the fair we met Ayşe Yılmaz of Demir.\nWrite to info@kaya.example.\nThat is all.',
      'Fuarda Demir’den Ayşe Yılmaz ile tanıştık.\ninfo@kaya.example adresine yazın.\nBu kadar.',
    ),
    answers: {
      'leads 1.1': {
        leads: [
          {
            name: 'Ayşe Yılmaz',
            company: 'Demir',
            email: null,
            title: 'CEO',
            website: null,
            country: null,
            quote: 'we met Ayşe Yılmaz of Demir',
          },
          {
            name: 'John Invented',
            company: null,
            email: null,
            title: null,
            website: null,
            country: null,
            quote: 'nothing',
          },
        ],
      },
    },
  },
  'research/dive': {
    agent: 'research',
    task: said('look into Demir Lojistik', 'Demir Lojistik’i incele'),
    rows: known,
    answers: {
      'dive 1': {
        points: [
          { text: 'Demir has 40 trucks', cites: ['E1'] },
          { text: 'They may want to grow', cites: ['none'] },
        ],
        questions: ['Who plans?'],
      },
    },
  },
  'research/plan': {
    agent: 'research',
    task: said('find me 20 logistics firms in Istanbul', 'İstanbul’da 20 lojistik firması bul'),
    answers: {
      'search plan': {
        criteria: ['20 trucks'],
        places: [{ where: 'UTİKAD members', query: 'Istanbul logistics' }],
      },
    },
  },
  'web_research/site': {
    agent: 'web_research',
    task: said('read www.demir.example, and see.', 'www.demir.example oku.'),
    rows: [[/domain = \?/, [{ id: lead.id }]]],
    answers: {
      'facts 1.1': {
        facts: [
          { fact: 'Has 40 trucks', quote: 'a fleet of 40 trucks' },
          { fact: 'Has 90 ships', quote: 'a fleet of 90 ships' },
        ],
      },
      'facts 1.2': { facts: [] },
    },
    more: {
      reader: {
        isThere: async () => true,
        read: async (url) =>
          /about$/.test(url)
            ? page(url, 'We are Demir Lojistik, at home in Istanbul since 1990.')
            : /team/.test(url)
              ? { refused: said('Too slow.', 'Çok yavaş.') }
              : /contact/.test(url)
                ? page(url, 'Short.')
                : page(
                    'https://www.demir.example/',
                    'Demir Lojistik runs a fleet of 40 trucks in Istanbul.',
                    [
                      { url: 'https://www.demir.example/about#top', text: 'About us' },
                      { url: 'https://www.demir.example/x', text: 'Ekibimiz' },
                      { url: 'https://www.demir.example/team', text: 'Team' },
                      { url: 'https://www.demir.example/contact', text: 'Contact' },
                      { url: 'https://www.demir.example/references', text: 'References' },
                      { url: 'https://other.example/about', text: 'About' },
                      { url: 'https://www.demir.example/', text: 'Our company' },
                      { url: 'no address', text: 'about' },
                    ],
                  ),
      },
    },
  },
  'research/search': {
    agent: 'research',
    task: said('find haulage firms in Bursa', 'Bursa’daki nakliye firmalarını bul'),
    answers: {
      'search plan': { queries: ['nakliye firmaları Bursa', 'haulage Bursa', 'haulage Bursa'] },
      companies: {
        companies: [
          { result: 'R1', company: 'Demir Lojistik' },
          { result: 'R2', company: 'Kaya Nakliyat' },
          { result: 'R3', company: 'Made Up Ltd' },
        ],
      },
    },
    more: {
      actions: {
        run: {},
        allowed: async () => ({
          web: 'ask',
          engineer_system: false,
          search: 'http://127.0.0.1:8888',
        }),
        health: async () => ({}),
        search: async ({ query }) =>
          query === 'haulage Bursa'
            ? { refused: said('The search endpoint is too slow.', 'Arama sunucusu çok yavaş.') }
            : {
                results: [
                  {
                    url: 'https://www.demirlojistik.example/hakkimizda',
                    title: 'Demir Lojistik | Soğuk zincir',
                    content:
                      'Demir Lojistik Bursa’dan 40 kamyonla taşır. Kaya büyür. Demir Lojistik asla …',
                  },
                  {
                    url: 'https://rehber.example/bursa/kaya',
                    title: 'Kaya Nakliyat, Bursa',
                    content: 'Telefon ve adres.',
                  },
                  { url: 'https://liste.example/', title: '10 firma', content: 'Bir liste.' },
                ],
              },
      },
    },
  },
  'web_research/lead': {
    agent: 'web_research',
    task: said(
      'look at Demir Lojistik and https://demir.example/x',
      'Demir Lojistik ve https://demir.example/x',
    ),
    input: { urls: ['https://kaya.example', 'https://a.example', 'https://b.example'] },
    rows: known,
    more: {
      actions: {
        run: {},
        allowed: async () => ({ web: 'allow', engineer_system: false }),
        health: async () => ({}),
        search: async () => ({ results: [] }),
      },
    },
  },
  'web_research/off': {
    agent: 'web_research',
    task: said('read www.demir.example', 'www.demir.example oku'),
    more: {
      actions: {
        run: {},
        allowed: async () => ({ web: 'deny', engineer_system: false }),
        health: async () => ({}),
        search: async () => ({ results: [] }),
      },
    },
  },
  'web_research/no-browser': {
    agent: 'web_research',
    task: said('read www.demir.example', 'www.demir.example oku'),
    more: {
      reader: { isThere: async () => false, read: async () => ({ refused: said('', '') }) },
    },
  },
  'web_research/no-site': { agent: 'web_research', task: said('read it', 'oku') },
}
