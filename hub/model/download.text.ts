import { decimal, texts } from '../i18n/words.ts'

/** Why a model was not downloaded or is refused. */
export const downloadText = texts(
  {
    running: 'A download is already running. Wait for it to finish, or cancel it.',
    none_running: 'No download is running.',
    presets: (names: string) => `Unknown preset. The presets are ${names}.`,
    cancelled: 'The download was stopped. Start it again to continue where it stopped.',
    broke_off: (host: string) =>
      `${host} broke off the download. Start it again to continue where it stopped.`,
    no_address: (url: string) => `${url} is not an http or https address.`,
    no_name: (name: string) => `${name} is not a valid name of a .gguf file.`,
    no_space: (folder: string, free: number, needed: number) =>
      `${folder} has ${decimal('en', free)} GB free, but the download needs ${decimal('en', needed)} GB. Free some space and start it again.`,
    wrong_digest: (found: string, expected: string) =>
      `The file’s SHA-256 is ${found}, not ${expected}. The file was deleted. Check the address and try again.`,
    too_long: (bytes: number) => `The file is longer than ${bytes} bytes.`,
    no_gguf_from: (host: string) => `The file from ${host} is not a GGUF model.`,
    no_digest: (host: string) =>
      `${host} does not report the file’s SHA-256. Enter it with the address; the download page shows it.`,
    no_size: (host: string) => `${host} does not report the file’s size.`,
    plain: (host: string) =>
      `The connection to ${host} is not encrypted. Use https, or enter the file’s SHA-256.`,
    leads_to_plain: (host: string) => `${host} redirects to an unencrypted address.`,
    not_found: (host: string) => `${host} could not be found.`,
    leads_inside: (host: string) =>
      `The download redirects to ${host}, which does not exist or is inside your own network.`,
    endless: (host: string) => `${host} keeps redirecting to other addresses.`,
    gated: (host: string, status: number) =>
      `${host} does not offer this file publicly (${status}). Download it yourself and choose it as a local file.`,
    absent: (host: string) => `${host} does not have this file. Check the address.`,
    busy: (host: string, status: number) =>
      `${host} cannot send the file at the moment (${status}).`,
    refused: (host: string, status: number) => `${host} refuses the download (${status}).`,
    file: {
      unreadable: (file: string) =>
        `The hub cannot read ${file}. Download the model, or correct the path.`,
      no_gguf: (file: string) => `${file} is not a GGUF model.`,
      no_file: (file: string) => `${file} is not a file.`,
    },
  },
  {
    running: 'Zaten bir indirme sürüyor. Bitmesini bekleyin ya da durdurun.',
    none_running: 'Süren bir indirme yok.',
    presets: (names) => `Bilinmeyen hazır model. Hazır modeller: ${names}.`,
    cancelled: 'İndirme durduruldu. Kaldığı yerden sürdürmek için yeniden başlatın.',
    broke_off: (host) =>
      `${host} indirmeyi yarıda kesti. Kaldığı yerden sürdürmek için yeniden başlatın.`,
    no_address: (url) => `Bu bir http ya da https adresi değil: ${url}`,
    no_name: (name) => `Bu bir .gguf dosyasının adı değil: ${name}`,
    no_space: (folder, free, needed) =>
      `${folder} klasöründe ${decimal('tr', free)} GB boş, indirme için ${decimal('tr', needed)} GB gerekir. Yer açıp yeniden başlatın.`,
    wrong_digest: (found, expected) =>
      `Dosyanın SHA-256 değeri ${found}; beklenen ${expected}. Dosya silindi; adresi denetleyip yeniden başlatın.`,
    too_long: (bytes) => `Dosya ${bytes} bayttan uzun.`,
    no_gguf_from: (host) => `${host} adresinden gelen dosya bir GGUF modeli değil.`,
    no_digest: (host) =>
      `${host} bu dosyanın SHA-256 değerini bildirmiyor. Adresle birlikte girin: indirme sayfasında yazar.`,
    no_size: (host) => `${host} dosyanın boyutunu bildirmiyor.`,
    plain: (host) =>
      `${host} ile bağlantı şifresiz. https kullanın ya da dosyanın SHA-256 değerini girin.`,
    leads_to_plain: (host) => `${host} şifresiz bir adrese yönlendiriyor.`,
    not_found: (host) => `${host} bulunamadı.`,
    leads_inside: (host) =>
      `İndirme ${host} adresine yönlendiriyor; bu adres bulunamadı ya da iç ağda.`,
    endless: (host) => `${host} sürekli başka adreslere yönlendiriyor.`,
    gated: (host, status) =>
      `${host} bu dosyayı herkese açık sunmuyor (${status}). Kendiniz indirip yerel dosya olarak seçin.`,
    absent: (host) => `${host} adresinde böyle bir dosya yok. Adresi denetleyin.`,
    busy: (host, status) => `${host} dosyayı şu an gönderemiyor (${status}).`,
    refused: (host, status) => `${host} indirmeyi reddediyor (${status}).`,
    file: {
      unreadable: (file) =>
        `Hub bu dosyayı okuyamıyor: ${file}. Modeli indirin ya da yolu düzeltin.`,
      no_gguf: (file) => `Bu bir GGUF modeli değil: ${file}`,
      no_file: (file) => `Bu bir dosya değil: ${file}`,
    },
  },
)
