import { texts } from '../i18n/words.ts'

/** Why the model gave no usable answer, and the state of its process. */
export const modelText = texts(
  {
    none: 'No model is set up. Choose one in Settings > Models.',
    none_of_its_own: 'No local model is set up. Choose one in Settings > Models.',
    no_file: (file: string) =>
      `The model file ${file} cannot be read. Download it in Settings > Models.`,
    cancelled: 'The call was cancelled.',
    loading: 'The model is being loaded. Try again in a moment.',
    ended: 'The model process stopped.',
    ended_with: (code: string | number | null) => `Its exit code is ${code}.`,
    ended_during: 'The model process stopped during the call. It is being restarted.',
    restarts: 'It is being restarted.',
    not_running: 'The model process is not running. It is being restarted.',
    unreachable: 'The model cannot be reached.',
    process: {
      silent: 'The model process did not answer in time. Check it in Settings > Models.',
      away: (code: string) =>
        `The model process cannot be reached (${code}). Check it in Settings > Models.`,
    },
    endpoint: {
      silent: 'The endpoint did not answer in time. Check it in Settings > Models.',
      away: (code: string) =>
        `The endpoint cannot be reached (${code}). Check it in Settings > Models.`,
    },
    no_protocol:
      'The endpoint does not speak the OpenAI protocol. Check its address in Settings > Models.',
    wrong_key: 'The endpoint refuses the API key. Correct it in Settings > Models.',
    unknown: (said: string) =>
      `The endpoint does not know this model or address: ${said} Correct it in Settings > Models.`,
    refused: (status: number, said: string) => `The endpoint refused the call (${status}): ${said}`,
    answered: (status: number) => `It answered ${status}.`,
    broke_off: 'The answer was cut off. Try again.',
    too_long: (prompt: number, answer: number, context: number) =>
      `The prompt has ${prompt} tokens and the answer may have ${answer}, but the context is limited to ${context}.`,
    shorten: (tokens: number) => `Shorten the input by ${tokens} tokens.`,
    out_of_budget:
      'The answer exceeded its token budget. Ask for less at once, or allow more tokens.',
    no_json: 'The answer is not a JSON object.',
    invalid_output: (problem: string) =>
      `The model failed twice to answer in the required format. ${problem} Try again, or use a larger model.`,
    no_grammar: 'This schema cannot be turned into a grammar.',
    failed: 'The model failed.',
    process_failed: 'The model process failed.',
  },
  {
    none: 'Model seçilmemiş. Ayarlar > Modeller altında bir model seçin.',
    none_of_its_own: 'Yerel model seçilmemiş. Ayarlar > Modeller altında bir model seçin.',
    no_file: (file) => `Model dosyası okunamıyor: ${file}. Ayarlar > Modeller altında indirin.`,
    cancelled: 'Çağrı iptal edildi.',
    loading: 'Model yükleniyor. Birazdan yeniden deneyin.',
    ended: 'Model süreci durdu.',
    ended_with: (code) => `Çıkış kodu: ${code}.`,
    ended_during: 'Model süreci çağrı sırasında durdu. Yeniden başlatılıyor.',
    restarts: 'Yeniden başlatılıyor.',
    not_running: 'Model süreci çalışmıyor. Yeniden başlatılıyor.',
    unreachable: 'Modele ulaşılamıyor.',
    process: {
      silent: 'Model süreci zamanında yanıt vermedi. Ayarlar > Modeller altında denetleyin.',
      away: (code) =>
        `Model sürecine ulaşılamıyor (${code}). Ayarlar > Modeller altında denetleyin.`,
    },
    endpoint: {
      silent: 'Uç nokta zamanında yanıt vermedi. Ayarlar > Modeller altında denetleyin.',
      away: (code) => `Uç noktaya ulaşılamıyor (${code}). Ayarlar > Modeller altında denetleyin.`,
    },
    no_protocol:
      'Uç nokta OpenAI protokolünü konuşmuyor. Adresini Ayarlar > Modeller altında denetleyin.',
    wrong_key: 'Uç nokta API anahtarını kabul etmiyor. Ayarlar > Modeller altında düzeltin.',
    unknown: (said) =>
      `Uç nokta böyle bir model ya da adres bilmiyor: ${said} Ayarlar > Modeller altında düzeltin.`,
    refused: (status, said) => `Uç nokta çağrıyı reddetti (${status}): ${said}`,
    answered: (status) => `Yanıt kodu: ${status}.`,
    broke_off: 'Yanıt yarıda kesildi. Yeniden deneyin.',
    too_long: (prompt, answer, context) =>
      `İstem ${prompt} belirteç, yanıt en çok ${answer} belirteç; bağlama ise ${context} belirteç sığıyor.`,
    shorten: (tokens) => `Girdiyi ${tokens} belirteç kısaltın.`,
    out_of_budget:
      'Yanıt, belirteç sınırını aştı. Bir kerede daha azını isteyin ya da sınırı yükseltin.',
    no_json: 'Yanıt bir JSON nesnesi değil.',
    invalid_output: (problem) =>
      `Model iki denemede de istenen biçimde yanıt vermedi. ${problem} Yeniden deneyin ya da daha büyük bir model kullanın.`,
    no_grammar: 'Bu şemadan bir dil bilgisi (grammar) oluşturulamıyor.',
    failed: 'Model hata verdi.',
    process_failed: 'Model süreci hata verdi.',
  },
)
