import type { Tasks } from './tasks.ts'

export const SECOND: Tasks = {
  en: {
    research: [
      'need a list of dairy producers in brittany, 20 or so',
      'who decides about packaging at ford otosan',
    ],
    web_research: [
      'go thru nordfracht.de and pull the branch addresses',
      'does their homepage say anything bout iso certs',
      'skim the about page of hotel-marina.com for me',
    ],
    marketing: [
      'ping everybody who downloaded the catalogue, keep it friendly',
      'tell mr jansen the delivery slips to monday',
      'shorten the newsletter and make it less formal',
    ],
    sales: [
      'quote 20 pallets/month for aydın tekstil',
      'role play: buyer says no budget. how do i react',
    ],
    engineer: [
      'regex for turkish iban please',
      'the loop in report.py runs forever',
      'unit tests for code/price.ts',
    ],
    engineer_system: [
      'add a column for language in the hubs lead table',
      'fix the hub: search box loses focus',
      'patch your own code so exports keep umlauts',
    ],
    docs: ['faq page about delivery and returns', 'turn these bullet points into a proper memo'],
    finance: [
      'how much did the berlin trip cost in total: 320 hotel, 180 train, 75 food',
      'proforma for müller, 3 machines a 12.500',
    ],
    legal: ['do we have to tell people that calls get recorded', 'nda for the turkish distributor'],
    data: ['who opened the spring mail but didnt answer', 'open rate by country pls'],
    pm: [
      'why do so many drafts get turned down lately',
      'retro on the last sprint of missions',
      'suggest how the agents could do better next month',
    ],
    system: [
      'did last nights backup run',
      'hub keeps restarting every hour',
      'is the model even loaded',
    ],
    ceo: ['swot for our entry into france', 'what should we focus on next year, be blunt'],
  },
  tr: {
    research: [
      'izmirdeki butik otelleri bul, sahiplerinin adıyla',
      'bu excel listesindeki kişileri aday olarak kaydet',
      'kargoline hakkında ne biliyosak topla, derinlemesine',
    ],
    web_research: [
      'eti.com.tr ye gir son haberlere bak',
      'adayın internet sitesinden ürün gamını öğren',
    ],
    marketing: [
      'fuarda tanıştıklarımıza kısa bir tanışma maili atalım',
      'kampanya için üç farklı konu başlığı öner',
      'hans beye numunelerin yola çıktığını haber ver',
    ],
    sales: [
      'telefonda kendimi nasıl tanıtayım, kısa bi metin',
      'pahalısınız diyen müşteriye karşı argüman ver',
      'northfreight teklifini güncelle, 3 yıl vade olsun',
    ],
    engineer: ['sipariş formu için html css hazırla', 'iki csv yi birleştiren python kodu'],
    engineer_system: [
      'hub a yeni bir bildirim sesi ekle',
      'hubın ayar sayfasını değiştir, logo büyük olsun',
    ],
    docs: [
      'toplantı notlarını tutanak haline getir',
      'bakım ekibi için adım adım talimat yaz',
      'ürün kataloğu metinlerini toparla',
    ],
    finance: [
      'bu siparişte kar marjımız ne olur: alış 80 satış 115 adet 400',
      'gelecek ayın bütçesini çıkar',
      'ödenmemiş faturalar için hesap özeti hazırla',
    ],
    legal: [
      'fesih ihtarnamesi yaz',
      'bu sözleşmede cezai şart çok mu ağır',
      'çerez politikası lazım siteye',
    ],
    data: [
      'haftalık gönderilen mail sayısını grafik yap',
      'en son kime ne zaman yazdık',
      'almanyadaki kaç lead teklif aldı',
    ],
    pm: [
      'satış ajanının talimatlarını düzelt, fazla resmi yazıyor',
      'işler nerde tıkanıyor bi bak',
    ],
    system: ['sunucuda bellek niye bitiyor', 'e-postalar gitmiyo, sebebi ne'],
    ceo: [
      'şirketin 3 yıllık büyüme planını yaz',
      'rakiplere karşı konumumuzu değerlendir, yönetim için',
      'fiyatları artırsak mı pazar payı mı kovalasak, karar lazım',
    ],
  },
}
