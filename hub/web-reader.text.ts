import { texts } from './words.ts'

/** Why a page was not read. */
export const readerText = texts(
  {
    no_address: 'It is no web address.',
    not_public: (host: string) => `${host} is not found, or lies inside the own network.`,
    robots: (host: string) => `robots.txt of ${host} does not want it read.`,
    answered: (url: string, status: number) => `${url} answered ${status}.`,
    no_answer: (url: string) => `${url} answered nothing.`,
    failed: (url: string, why: string) => `${url} could not be read: ${why}`,
    no_chromium: 'Chromium is not installed.',
  },
  {
    no_address: 'Bu bir web adresi değil.',
    not_public: (host) => `${host} bulunamadı ya da iç ağda.`,
    robots: (host) => `${host} sitesinin robots.txt dosyası okunmasını istemiyor.`,
    answered: (url, status) => `${url} ${status} yanıtını verdi.`,
    no_answer: (url) => `${url} yanıt vermedi.`,
    failed: (url, why) => `${url} okunamadı: ${why}`,
    no_chromium: 'Chromium kurulu değil.',
  },
)
