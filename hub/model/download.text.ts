import { decimal, texts } from '../i18n/words.ts'

/** Why a model was not downloaded, or is not taken. */
export const downloadText = texts(
  {
    running: 'A download is running. Wait for its end, or cancel it.',
    none_running: 'No download is running.',
    presets: (names: string) => `The presets are ${names}.`,
    cancelled: 'The download was stopped. Starting it again continues it.',
    broke_off: (host: string) =>
      `${host} broke off the download. Start it again: it continues where it was.`,
    no_address: (url: string) => `${url} is no http or https address.`,
    no_name: (name: string) => `${name} is no name of a .gguf file.`,
    no_space: (folder: string, free: number, needed: number) =>
      `${folder} has ${decimal('en', free)} GB free, and the download needs ${decimal('en', needed)} GB. Make room and start it again.`,
    wrong_digest: (found: string, expected: string) =>
      `The file has the SHA-256 ${found}, not ${expected}. It was deleted; check the address and start again.`,
    too_long: (bytes: number) => `The file is longer than ${bytes} bytes.`,
    no_gguf_from: (host: string) => `What ${host} sent is no GGUF model.`,
    no_digest: (host: string) =>
      `${host} does not say the SHA-256 of this file. Give it with the address: its download page shows it.`,
    no_size: (host: string) => `${host} does not say how large the file is.`,
    plain: (host: string) =>
      `${host} is asked without encryption. Use https, or give the SHA-256 of the file.`,
    leads_to_plain: (host: string) => `${host} leads to an address without encryption.`,
    leads_inside: (host: string) =>
      `The download leads to ${host}, which is not found or lies inside the own network.`,
    endless: (host: string) => `${host} leads from one address to the next without end.`,
    gated: (host: string, status: number) =>
      `${host} does not give this file to everybody (${status}). Download it by hand and choose the local file.`,
    absent: (host: string) => `${host} has no such file. Check the address.`,
    busy: (host: string, status: number) => `${host} cannot send the file now (${status}).`,
    refused: (host: string, status: number) => `${host} refuses the download (${status}).`,
    file: {
      unreadable: (file: string) =>
        `${file} cannot be read by the hub. Download the model, or correct the path.`,
      no_gguf: (file: string) => `${file} is no GGUF model.`,
      no_file: (file: string) => `${file} is no file.`,
    },
  },
  {
    running: 'Bir indirme sürüyor. Bitmesini bekleyin ya da durdurun.',
    none_running: 'Süren bir indirme yok.',
    presets: (names) => `Hazır modeller: ${names}.`,
    cancelled: 'İndirme durduruldu. Yeniden başlatınca kaldığı yerden sürer.',
    broke_off: (host) => `${host} indirmeyi yarıda kesti. Yeniden başlatın: kaldığı yerden sürer.`,
    no_address: (url) => `Bu bir http ya da https adresi değil: ${url}`,
    no_name: (name) => `Bu bir .gguf dosyasının adı değil: ${name}`,
    no_space: (folder, free, needed) =>
      `${folder} klasöründe ${decimal('tr', free)} GB boş, indirme için ${decimal('tr', needed)} GB gerekir. Yer açıp yeniden başlatın.`,
    wrong_digest: (found, expected) =>
      `Dosyanın SHA-256 değeri ${found}; beklenen ${expected}. Dosya silindi; adresi denetleyip yeniden başlatın.`,
    too_long: (bytes) => `Dosya ${bytes} bayttan uzun.`,
    no_gguf_from: (host) => `${host} bir GGUF modeli göndermedi.`,
    no_digest: (host) =>
      `${host} bu dosyanın SHA-256 değerini bildirmiyor. Adresle birlikte girin: indirme sayfasında yazar.`,
    no_size: (host) => `${host} dosyanın boyutunu bildirmiyor.`,
    plain: (host) =>
      `${host} ile bağlantı şifresiz. https kullanın ya da dosyanın SHA-256 değerini girin.`,
    leads_to_plain: (host) => `${host} şifresiz bir adrese yönlendiriyor.`,
    leads_inside: (host) =>
      `İndirme ${host} adresine yönlendiriyor; bu adres bulunamadı ya da iç ağda.`,
    endless: (host) => `${host} durmadan başka bir adrese yönlendiriyor.`,
    gated: (host, status) =>
      `${host} bu dosyayı herkese vermiyor (${status}). Elle indirip yerel dosya olarak seçin.`,
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
