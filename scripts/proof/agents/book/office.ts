import type { Task } from '../task.ts'

export const finance: Task[] = [
  {
    name: 'an invoice with its sum',
    task: {
      en: 'Invoice for Demir Lojistik: 12 hours at 50 euros, 20 % VAT',
      tr: 'Demir Lojistik’e fatura: 12 saat, saati 50 euro, %20 KDV',
    },
    wants: {
      documents: 1,
      table: true,
      says: [['720'], ['Demir']],
      about: ['Demir Lojistik'],
      numbers: [600, 120, 720],
    },
  },
  {
    name: 'a quote of two items',
    task: {
      en: 'Quote for Aksu Gıda: 12 licences at 40 euros and one setup at 300 euros, no tax',
      tr: 'Aksu Gıda için fiyat teklifi: 12 lisans, tanesi 40 euro, bir kurulum 300 euro, vergi yok',
    },
    wants: { documents: 1, says: [['780']], about: ['Aksu Gıda'], numbers: [480, 780, 0] },
  },
  {
    name: 'a budget from a text',
    task: { en: 'Make a budget from this text', tr: 'Bu metinden bütçe hazırla' },
    input: { text: 'Rent 1000 euros, salaries 5000 euros, advertising 700 euros a month.' },
    wants: { documents: 1, says: [['6700']], about: [], numbers: [6700, 0] },
  },
  {
    name: 'an invoice without a price invents none',
    task: {
      en: 'Invoice for Carter Freight for our consulting',
      tr: 'Carter Freight’e danışmanlık faturası hazırla',
    },
    wants: { about: ['Carter Freight'], numbers: [0, 1] },
  },
  {
    name: 'a price spelled out',
    task: {
      en: 'Invoice for Müller Spedition: three days of training at 400 euros a day',
      tr: 'Müller Spedition’a fatura: üç gün eğitim, günü 400 euro',
    },
    wants: { documents: 1, says: [['1200']], about: ['Müller Spedition'], numbers: [3, 1200, 0] },
  },
]

export const legal: Task[] = [
  {
    name: 'an NDA of two parties',
    task: {
      en: 'Prepare an NDA between Rota Planlama and Demir Lojistik for 2 years',
      tr: 'Rota Planlama ile Demir Lojistik arasında 2 yıllık gizlilik sözleşmesi hazırla',
    },
    wants: {
      documents: 1,
      says: [['Demir'], ['2', 'two', 'iki'], ['lawyer', 'avukat', 'legal', 'hukuki']],
      about: ['Demir Lojistik'],
      numbers: 'free',
    },
  },
  {
    name: 'a GDPR checklist',
    task: { en: 'GDPR checklist for our mailings', tr: 'Postalarımız için GDPR kontrol listesi' },
    wants: { documents: 1, says: [['GDPR']], about: [], numbers: 'free' },
  },
  {
    name: 'a KVKK checklist',
    task: {
      en: 'Go through the KVKK checklist for us',
      tr: 'KVKK kontrol listesini bizim için çıkar',
    },
    wants: { documents: 1, says: [['KVKK']], about: [], numbers: 'free' },
  },
  {
    name: 'a privacy notice is a draft and no advice',
    task: {
      en: 'Write a privacy notice for our newsletter',
      tr: 'Bültenimiz için bir aydınlatma metni yaz',
    },
    wants: { documents: 1, says: [['lawyer', 'avukat']], about: [], numbers: 'free' },
  },
  {
    name: 'how long invoices run, from our own papers',
    task: {
      en: 'GDPR: within how many days are trackers returned? See our documents, checklist',
      tr: 'GDPR kontrol listesi: takip cihazları kaç günde iade edilir? Belgelerimize bak',
    },
    wants: { documents: 1, says: [['lawyer', 'avukat']], about: [], numbers: 'free' },
  },
]

export const data: Task[] = [
  {
    name: 'how many leads there are',
    task: { en: 'How many leads do we have?', tr: 'Kaç adayımız var?' },
    wants: { says: [['4', 'four', 'dört']], numbers: 'free' },
  },
  {
    name: 'leads by stage as a chart',
    task: { en: 'Leads by stage as a chart', tr: 'Adayları aşamaya göre grafikle göster' },
    wants: { table: true, chart: true, says: [['2', 'two', 'iki']], numbers: 'free' },
  },
  {
    name: 'leads of a country',
    task: { en: 'How many leads are in Germany?', tr: 'Almanya’da (Germany) kaç aday var?' },
    wants: { says: [['1', 'one', 'bir']], numbers: 'free' },
  },
  {
    name: 'the newest leads with their companies',
    task: { en: 'List the companies of all leads', tr: 'Bütün adayların şirketlerini listele' },
    wants: {
      table: true,
      says: [['Demir'], ['Müller'], ['Aksu'], ['Carter']],
      about: ['Demir Lojistik', 'Müller Spedition', 'Aksu Gıda', 'Carter Freight'],
      numbers: 'free',
    },
  },
  {
    name: 'a table that there is not',
    task: {
      en: 'How many invoices did we send last month, from the table invoices?',
      tr: 'Geçen ay faturalar tablosuna göre kaç fatura kestik?',
    },
    wants: { status: 'failed', says: [['table', 'tablo', 'leads', 'aday']], numbers: 'free' },
  },
]

const FAILED = ['Write to Marta Kowalska', 'Invoice without a price', 'Read the website of Demir']

export const pm: Task[] = [
  {
    name: 'nothing has happened yet',
    task: { en: '/gelistir', tr: '/gelistir lütfen' },
    wants: { says: [['nothing', 'no', 'not', 'hiçbir', 'yok', 'henüz']], numbers: 'free' },
  },
  {
    name: 'learns from failed missions',
    task: {
      en: 'Improve the process: look at the failed missions',
      tr: 'Süreci geliştir: başarısız görevlere bak',
    },
    given: { failed: FAILED },
    wants: { documents: 1, says: [['3', 'three', 'üç']], numbers: 'free' },
  },
  {
    name: 'proposes, and changes nothing by itself',
    task: {
      en: 'Which prompts should be improved after these failures?',
      tr: 'Bu başarısızlıklardan sonra hangi istemler geliştirilmeli? Süreci iyileştir',
    },
    given: { failed: FAILED },
    wants: { documents: 1, says: [['approval', 'propos', 'onay', 'öneri']], numbers: 'free' },
  },
  {
    name: 'counts what failed',
    task: { en: 'Retrospective of this week', tr: 'Bu haftanın retrospektifini yap' },
    given: { failed: FAILED },
    wants: { documents: 1, says: [['3', 'three', 'üç']], numbers: 'free' },
  },
  {
    name: 'names the missions that failed',
    task: {
      en: 'Improve: what went wrong in the last missions?',
      tr: 'Geliştir: son görevlerde ne ters gitti?',
    },
    given: { failed: FAILED },
    wants: {
      documents: 1,
      says: [['Kowalska', 'marketing', 'Pazarlama', 'failed', 'başarısız']],
      numbers: 'free',
    },
  },
]

const ALERTS = [
  ['disk', 'Only 2 GB are free on the disk.', 'Diskte yalnızca 2 GB boş yer kaldı.', 'disk'],
  ['memory', 'The memory is nearly full.', 'Bellek dolmak üzere.', 'memory'],
  ['backup', 'The last backup failed.', 'Son yedekleme başarısız oldu.', 'backup'],
  ['model', 'The model does not answer.', 'Model yanıt vermiyor.', 'model'],
] as const

export const system: Task[] = [
  {
    name: 'how the hub is',
    task: {
      en: 'Is the hub healthy? Check the system',
      tr: 'Sistem sağlıklı mı? Hub’ı kontrol et',
    },
    wants: { documents: 1, numbers: 'free' },
  },
  ...ALERTS.map(
    ([kind, en, tr, word]): Task => ({
      name: `an alert: ${kind}`,
      task: {
        en: `Health alert: ${en}`,
        tr: `Sağlık uyarısı (${kind}): durumu açıkla ve ne yapılmalı söyle`,
      },
      input: { alert: { kind, message: { en, tr } } },
      wants: {
        documents: 1,
        says: [[word, { disk: 'disk', memory: 'bellek', backup: 'yedek', model: 'model' }[kind]]],
        never: ['reinstall', 'rm'],
        numbers: 'free',
      },
    }),
  ),
]

export const ceo: Task[] = [
  {
    name: 'goals from the key figures',
    task: {
      en: 'Set OKRs for the next quarter from our KPIs',
      tr: 'KPI’larımızdan gelecek çeyrek için OKR belirle',
    },
    wants: { documents: 1, table: true, numbers: 'free' },
  },
  {
    name: 'a strategy from the context',
    task: {
      en: 'Write a strategy for winning logistics companies',
      tr: 'Lojistik firmalarını kazanmak için strateji yaz',
    },
    wants: {
      documents: 1,
      says: [['logistic', 'lojistik', 'route', 'rota']],
      about: [],
      numbers: 'free',
    },
  },
  {
    name: 'how the week went, by the figures',
    task: {
      en: 'Strategy report: how do our key figures stand?',
      tr: 'Strateji raporu: temel göstergelerimiz ne durumda?',
    },
    wants: { documents: 1, says: [['4', 'four', 'dört', 'lead', 'aday']], numbers: 'free' },
  },
  {
    name: 'priorities',
    task: {
      en: 'What should our strategic priorities be this year?',
      tr: 'Bu yılki stratejik önceliklerimiz ne olmalı?',
    },
    wants: { documents: 1, numbers: 'free' },
  },
  {
    name: 'a market entry without figures invents none',
    task: {
      en: 'Strategy for entering the German market',
      tr: 'Almanya pazarına giriş stratejisi yaz',
    },
    wants: {
      documents: 1,
      says: [['German', 'Germany', 'Almanya', 'Alman']],
      about: [],
      numbers: 'free',
    },
  },
]
