// The invented cooperatives of the seed data: sector, place, founding date, size and what they deliver.
import { csvText } from './seed-format.ts';

export type Crop = 'coffee' | 'tea' | 'milk' | 'maize' | 'rice' | 'beans' | 'honey' | 'sambaza' | 'tilapia';

export interface Cooperative {
  readonly code: string;
  readonly name: string;
  readonly sector: string;
  readonly province: string;
  readonly district: string;
  /** Three letters that its member codes start with. */
  readonly prefix: string;
  /** YYYY-MM-DD */
  readonly registered: string;
  readonly status: 'active' | 'inactive' | 'dissolved';
  /** People whose first cooperative this is; people who joined another one first are not included. */
  readonly homeMembers: number;
  readonly crops: readonly Crop[];
}

const DISTRICTS: Readonly<Record<string, readonly [prefix: string, province: string]>> = {
  Gasabo: ['GSB', 'Kigali'],
  Kicukiro: ['KCK', 'Kigali'],
  Nyarugenge: ['NGE', 'Kigali'],
  Burera: ['BUR', 'North'],
  Gakenke: ['GKK', 'North'],
  Gicumbi: ['GCB', 'North'],
  Musanze: ['MUS', 'North'],
  Rulindo: ['RUL', 'North'],
  Gisagara: ['GSG', 'South'],
  Huye: ['HUY', 'South'],
  Kamonyi: ['KMY', 'South'],
  Muhanga: ['MHG', 'South'],
  Nyamagabe: ['NMG', 'South'],
  Nyanza: ['NYZ', 'South'],
  Nyaruguru: ['NRG', 'South'],
  Ruhango: ['RHG', 'South'],
  Bugesera: ['BGS', 'East'],
  Gatsibo: ['GTS', 'East'],
  Kayonza: ['KYZ', 'East'],
  Kirehe: ['KRH', 'East'],
  Ngoma: ['NGM', 'East'],
  Nyagatare: ['NGT', 'East'],
  Rwamagana: ['RWM', 'East'],
  Karongi: ['KRG', 'West'],
  Ngororero: ['NGR', 'West'],
  Nyabihu: ['NBH', 'West'],
  Nyamasheke: ['NMS', 'West'],
  Rubavu: ['RBV', 'West'],
  Rusizi: ['RSZ', 'West'],
  Rutsiro: ['RTS', 'West'],
};

type Entry = readonly [
  sector: string,
  district: string,
  virtue: string,
  image: string,
  registered: string,
  homeMembers: number,
  crops?: string,
  status?: 'inactive' | 'dissolved',
];

// Each name combines a virtue or a verb with an unrelated image: no real cooperative is called that.
const ENTRIES: readonly Entry[] = [
  ['agriculture', 'Huye', 'Ubwitonzi', 'Inyenyeri', '2009-03-18', 46, 'coffee'],
  ['agriculture', 'Gisagara', 'Umurava', 'Ikinyugunyugu', '2011-07-05', 52, 'maize beans'],
  ['agriculture', 'Nyamasheke', 'Ubushishozi', 'Umuyaga', '2008-11-20', 44, 'coffee'],
  ['agriculture', 'Rutsiro', 'Ituze', 'Umukororombya', '2013-02-14', 42, 'coffee'],
  ['agriculture', 'Kirehe', 'Impuhwe', 'Urutare', '2010-05-26', 45, 'coffee'],
  ['agriculture', 'Gakenke', 'Ubugwaneza', 'Akanyoni', '2014-09-09', 40, 'coffee'],
  ['agriculture', 'Nyaruguru', 'Kwihangana', 'Ikibabi', '2007-06-12', 50, 'tea'],
  ['agriculture', 'Nyamagabe', 'Ubutwari', 'Igihu', '2010-10-01', 48, 'tea'],
  ['agriculture', 'Ngoma', 'Ishyaka', 'Umunara', '2012-04-17', 55, 'maize'],
  ['agriculture', 'Nyanza', 'Dutuze', 'Iteme', '2015-01-22', 54, 'rice'],
  ['agriculture', 'Rwamagana', 'Ubwuzuzanye', 'Igishanga', '2011-08-30', 58, 'rice'],
  ['agriculture', 'Burera', 'Tumurike', 'Urubura', '2016-03-03', 52, 'beans'],
  ['agriculture', 'Kayonza', 'Icyizere', 'Umusozi', '2018-06-19', 50, 'maize'],
  ['livestock', 'Nyagatare', 'Ubudacogora', 'Igicuma', '2009-09-15', 40, 'milk'],
  ['livestock', 'Gicumbi', 'Dusigasire', 'Ikirere', '2012-12-04', 38, 'milk'],
  ['livestock', 'Nyabihu', 'Umutuzo', 'Ikirunga', '2014-05-27', 38, 'milk'],
  ['livestock', 'Gatsibo', 'Turebere', 'Ikaramu', '2017-02-08', 36, 'honey'],
  ['livestock', 'Ngororero', 'Ubwizigame', 'Akabindi', '2019-10-10', 34, 'honey'],
  ['trading', 'Nyarugenge', 'Duhahirane', 'Inyanja', '2010-02-23', 60],
  ['trading', 'Gasabo', 'Ubunyangamugayo', 'Isaro', '2013-07-16', 56],
  ['trading', 'Muhanga', 'Twakirane', 'Igitebo', '2015-11-03', 48],
  ['trading', 'Rubavu', 'Ubworoherane', 'Umupaka', '2016-08-24', 50],
  ['trading', 'Huye', 'Tugendane', 'Umwambi', '2012-09-11', 28, '', 'inactive'],
  ['handicraft', 'Musanze', 'Ubuhanga', 'Urudodo', '2011-03-29', 44],
  ['handicraft', 'Ruhango', 'Tunoze', 'Ibumba', '2014-10-21', 42],
  ['handicraft', 'Kicukiro', 'Ubwitange', 'Ishaba', '2017-05-18', 40],
  ['handicraft', 'Nyanza', 'Dushishoze', 'Intaro', '2010-06-08', 26, '', 'dissolved'],
  ['services', 'Kamonyi', 'Twunganirane', 'Itara', '2016-01-13', 52],
  ['services', 'Gasabo', 'Ubwangamugayo', 'Idirishya', '2018-09-25', 58],
  ['services', 'Kicukiro', 'Duserukane', 'Umuryango', '2019-04-02', 50],
  ['services', 'Musanze', 'Ubupfura', 'Isuka', '2020-02-18', 44],
  ['transport', 'Rulindo', 'Twihute', 'Umuraba', '2013-11-12', 62],
  ['transport', 'Nyarugenge', 'Ubwitwararike', 'Uruziga', '2015-06-30', 74],
  ['housing', 'Bugesera', 'Duturane', 'Igisenge', '2018-03-06', 46],
  ['housing', 'Gasabo', 'Ubwumvikane', 'Itafari', '2021-01-19', 40, '', 'inactive'],
  ['mining', 'Rulindo', 'Ubushake', 'Urusenda', '2012-08-07', 56],
  ['fishing', 'Karongi', 'Turobane', 'Ukwezi', '2010-12-14', 48, 'sambaza'],
  ['fishing', 'Bugesera', 'Ubwihangane', 'Urubingo', '2016-10-05', 42, 'tilapia'],
  ['savings_credit', 'Rusizi', 'Duteganye', 'Umuseke', '2009-05-21', 110],
  ['savings_credit', 'Muhanga', 'Ubudakemwa', 'Inkoko', '2011-12-06', 102],
];

/** The first `count` open syllables of a word without its leading vowel: two of `Inyenyeri` are `NYENYE`. */
function syllables(word: string, count: number): string {
  const body = word.toUpperCase().replace(/^[AEIOU]/, '');
  return (body.match(/[^AEIOU]+[AEIOU]/g) ?? []).slice(0, count).join('');
}

function composeName(entry: Entry, acronym: string, index: number): string {
  const [sector, district, virtue, image] = entry;
  if (sector === 'savings_credit') return `${virtue}-${image} ${district} SACCO`;
  if (index % 3 === 1) return `Koperative ${virtue}-${image} ya ${district}`;
  return `${acronym} ${virtue}-${image} ${district}`;
}

function composeCooperative(entry: Entry, index: number): Cooperative {
  const [sector, district, virtue, image, registered, homeMembers, crops = '', status = 'active'] = entry;
  const place = DISTRICTS[district];
  if (place === undefined) throw new Error(`unknown district ${district}`);
  const [prefix, province] = place;
  const acronym = `${index % 4 === 2 ? 'CO' : 'KO'}${syllables(virtue, 1)}${syllables(image, 2)}`;
  return {
    code: `${acronym}-${prefix}`,
    name: composeName(entry, acronym, index),
    sector,
    province,
    district,
    prefix,
    registered,
    status,
    homeMembers,
    crops: crops.split(' ').filter((crop) => crop !== '') as Crop[],
  };
}

export function composeCooperatives(): Cooperative[] {
  return ENTRIES.map(composeCooperative);
}

export function cooperativesCsv(cooperatives: readonly Cooperative[]): string {
  return csvText(
    ['code', 'name', 'sector', 'province', 'district', 'registration_date', 'status'],
    cooperatives.map((cooperative) => [
      cooperative.code,
      cooperative.name,
      cooperative.sector,
      cooperative.province,
      cooperative.district,
      cooperative.registered,
      cooperative.status,
    ]),
  );
}
