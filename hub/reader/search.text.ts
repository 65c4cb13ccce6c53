import { texts } from '../i18n/words.ts'

/** Why a search gave nothing. */
export const searchText = texts(
  {
    unreachable: (host: string) => `The search endpoint ${host} cannot be reached.`,
    no_json: (host: string) =>
      `The search endpoint ${host} gives no JSON. In SearXNG, add “json” to search.formats in settings.yml.`,
    refused: (host: string, status: number) =>
      `The search endpoint ${host} answered with status ${status}.`,
    not_understood: (host: string) =>
      `The search endpoint ${host} answered with something else than search results.`,
    too_long: (host: string) => `The answer of the search endpoint ${host} is too long.`,
  },
  {
    unreachable: (host) => `${host} arama sunucusuna ulaşılamıyor.`,
    no_json: (host) =>
      `${host} arama sunucusu JSON vermiyor. SearXNG’de settings.yml dosyasındaki search.formats listesine “json” ekleyin.`,
    refused: (host, status) => `${host} arama sunucusu ${status} durumuyla yanıt verdi.`,
    not_understood: (host) => `${host} arama sunucusunun yanıtı arama sonucu değil.`,
    too_long: (host) => `${host} arama sunucusunun yanıtı çok uzun.`,
  },
)
