import type { RenderInput } from '../../../hub/mail/render/render.ts'
import type { TemplateName } from '../../../hub/mail/render/slots.ts'

const signature = ['Ayşe Demir', 'Sales, Demir Isı Sistemleri', '+90 232 000 00 00']
const branding = { name: 'Demir Isı Sistemleri', color: '#0f766e' }
const footer = {
  postal_address: 'Demir Isı Sistemleri A.Ş., 1203/2 Sk. No: 4, 35110 Konak, İzmir, Türkiye',
  reason:
    'You are receiving this mail because we met at the ISK-SODEX fair in Istanbul in October.',
}

const slots: Record<TemplateName, unknown> = {
  letter: {
    subject: 'Heat recovery for your Manisa plant',
    preheader: 'Two numbers from a plant like yours',
    greeting: 'Dear {first_name}',
    paragraphs: [
      'Thank you for the talk at our stand. You said that the dryers in Manisa lose most of their heat through the stack, and that nobody has measured how much.',
      'A plant of the same size in Denizli got back 31 % of its gas bill with two exchangers. Payback was 14 months.',
      'Would you like the measurement protocol they used? It takes one technician half a day.',
    ],
    closing: 'Best regards',
  },
  offer: {
    subject: 'A free measurement before winter',
    preheader: 'One day on site, numbers within a week',
    greeting: 'Dear {first_name}',
    paragraphs: ['Before you decide on anything, you should know what leaves through the stack.'],
    offer: {
      title: 'Stack measurement, free for three plants in Manisa',
      points: [
        'One technician, half a day, no stop of production, and a second visit if the first day was not a usual one',
        'Report within five working days',
        'No obligation afterwards',
      ],
    },
    button: { label: 'Choose a day', url: 'https://demir.example/measure?plant=manisa&from=mail' },
    closing: 'Best regards',
  },
  newsletter: {
    subject: 'Kasım bülteni: üç ölçüm, bir sürpriz',
    preheader: 'Denizli’de beklenmedik bir sonuç',
    title: 'Üç tesis, üç ölçüm, bir sürpriz',
    intro: 'Bu ay üç kurutma hattında baca gazı ölçtük. Sonuçlardan biri bizi de şaşırttı.',
    sections: [
      {
        heading: 'Denizli: gaz faturasının üçte biri geri geldi',
        paragraphs: [
          'İki eşanjörle doğal gaz tüketimi yüzde 31 düştü. Yatırım 14 ayda geri döndü.',
        ],
        link: { label: 'Ölçüm raporunu okuyun', url: 'https://demir.example/denizli' },
      },
      {
        heading: 'Çiğli: ısı baca yerine tavandan kaçıyordu',
        paragraphs: ['Kamera görüntüleri yalıtımdaki boşluğu gösterdi.', 'Onarım yarım gün sürdü.'],
      },
    ],
    button: { label: 'Ölçüm isteyin', url: 'https://demir.example/olcum' },
  },
  invitation: {
    subject: 'Open day in Izmir on 12 December',
    preheader: 'See two exchangers at work',
    greeting: 'Dear {first_name}',
    paragraphs: [
      'We open our test hall for a day, with two exchangers at work and the engineers who built them.',
    ],
    event: {
      name: 'Open day: heat you can see',
      when: 'Saturday, 12 December 2026, 10:00–13:00 (Istanbul time)',
      where: 'Demir test hall, Kemalpaşa OSB, Izmir',
      agenda: [
        { time: '10:00', item: 'Coffee and a walk through the hall' },
        { time: '11:00', item: 'Live measurement of a dryer' },
      ],
    },
    button: { label: 'Reserve a seat', url: 'https://demir.example/open-day' },
    closing: 'See you there',
  },
  follow_up: {
    subject: 'Re: Heat recovery for your Manisa plant',
    preheader: 'One short question',
    greeting: 'Dear {first_name}',
    earlier: 'Two weeks ago I wrote about measuring the stack losses in Manisa.',
    paragraphs: ['I know that November is budget time, so I will keep it short.'],
    question: 'Is Ms Kaya still the right person for this?',
    closing: 'Best regards',
  },
}

/** A filled mail of each template, as tests and pictures use it. */
export function mail(template: TemplateName, more: Partial<RenderInput> = {}): RenderInput {
  const lang = template === 'newsletter' ? 'tr' : 'en'
  return { template, slots: slots[template], signature, branding, footer, lang, ...more }
}
