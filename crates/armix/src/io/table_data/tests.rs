//! Tests of tables: names, labels, types and codes.

use super::super::table;
use super::*;
use proptest::prelude::*;

fn raw(text: &str) -> RawTable {
    table::parse(&mut text.as_bytes(), b',').unwrap()
}

fn rows(dataset: &Dataset) -> Vec<Vec<u8>> {
    match &dataset.data {
        Data::Table(table) => (0..table.n()).map(|row| table.row(row).to_vec()).collect(),
        _ => panic!("not a table of zeros and ones"),
    }
}

fn options(columns: &[&str]) -> TableOptions {
    let columns = columns.iter().map(ToString::to_string).collect();
    TableOptions { columns: Some(columns), ..TableOptions::default() }
}

#[test]
fn names_labels_and_codes() {
    let table = raw("animal,hair,fed,Type,kind\nox,1,Yes,3,b\nhen,0,no,2,a\nant,0.0,no,2,a\n");
    let data = binary(&table, &TableOptions::default()).unwrap();
    assert_eq!(data.names, ["ox", "hen", "ant"]);
    assert_eq!(rows(&data), [[1, 1, 1], [0, 0, 0], [0, 0, 0]]);
    assert_eq!(
        data.notes,
        [
            "column 'Type' was taken for known groups and left out",
            "in column 'fed' 'Yes' was coded as 1 and 'no' as 0",
            "in column 'kind' 'b' was coded as 1 and 'a' as 0"
        ]
    );
    assert!(binary(&table, &options(&["kind", "Type"])).is_err(), "2 and 3 are not coded");
    let some = binary(&table, &options(&["kind", "2", "fed"])).unwrap();
    assert_eq!(rows(&some)[0], [1, 1, 1]);
    assert_eq!((some.notes.len(), &*some.names[0]), (2, "ox"));
    let explicit = TableOptions {
        id_column: Some("Type".into()),
        label_column: Some("5".into()),
        ..options(&["hair", "fed"])
    };
    assert_eq!(binary(&table, &explicit).unwrap().names, ["3", "2", "2"]);
    let cases = raw("x,y\nA,0\na,1\nA,1\n");
    let cases = binary(&cases, &TableOptions::default()).unwrap();
    assert_eq!(rows(&cases), [[0, 0], [1, 1], [0, 1]], "two words in the case of letters");
    let group = raw("group,a\n1,0\n0,1\n");
    assert_eq!(rows(&binary(&group, &TableOptions::default()).unwrap()), [[1, 0], [0, 1]]);
    let numbered = binary(&raw("ID,a\n7,0\n9,1\n"), &TableOptions::default()).unwrap();
    assert_eq!((numbered.names.len(), numbered.notes.len()), (2, 1));
}

#[test]
fn refusals() {
    let table = raw("x,y,y,z,m\n1,2,2,a,0\n2,2,2,b,\n3,2,2,c,NA\n");
    let refused = |options: TableOptions, words: &[&str]| {
        let error = binary(&table, &options).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    refused(TableOptions::default(), &["line 3", "column 'x' holds '2'"]);
    let empty = raw("a,b\n1,\n0,NA\n");
    let error = binary(&empty, &TableOptions::default()).unwrap_err().to_string();
    assert!(error.contains("column 'b' has no values at all"), "{error}");
    refused(options(&["x"]), &["line 3", "column 'x' holds '2'", "3 different values"]);
    refused(options(&["z"]), &["line 2", "'a'"]);
    refused(options(&["2"]), &["1 different value "]);
    refused(options(&["y"]), &["columns 2 and 3 are both called 'y'"]);
    refused(options(&["q"]), &["no column 'q'", "x, y, y, z, m"]);
    refused(options(&["0"]), &["no column '0'"]);
    refused(options(&["x", "1"]), &["twice"]);
    refused(options(&[]), &["no columns"]);
    let both = TableOptions { id_column: Some("x".into()), ..options(&["1"]) };
    refused(both, &["at once"]);
    let unplaced = RawTable { lines: vec![], ..table.clone() };
    let error = binary(&unplaced, &options(&["x"])).unwrap_err().to_string();
    assert!(error.contains("row 2 of column 'x'"), "{error}");
    assert!(binary(&RawTable::default(), &TableOptions::default()).is_err());
}

fn typed(dataset: &Dataset) -> &Table {
    match &dataset.data {
        Data::Columns(table) => table,
        _ => panic!("zeros and ones"),
    }
}

#[test]
fn types_are_inferred_and_can_be_chosen() {
    let table = raw(
        "who,age,legs,x,colour,fed\nox,30,4,0.5,b,y\nhen,21,2,?,a,n\nant,40,6,-1,a,n\neel,52,0,2,b,y\nfly,52,6,2,c,y\nbat,33,2,1,c,n\n",
    );
    let default = TableOptions::default();
    let data = tabular(&table, &default).unwrap();
    let kinds: Vec<Kind> = typed(&data).columns().iter().map(Column::kind).collect();
    use Kind::{Binary, Categorical, Count, Real};
    assert_eq!(kinds, [Real, Count, Real, Categorical, Binary]);
    assert_eq!(typed(&data).columns()[3].names(), ["a", "b", "c"]);
    assert_eq!(typed(&data).columns()[3].cells()[..3], [1.0, 0.0, 0.0]);
    assert_eq!(typed(&data).missing().collect::<Vec<_>>(), [(1, 2)]);
    assert_eq!((&*data.names[0], data.columns.len(), data.notes.len()), ("ox", 5, 2));
    let why = types(&table, &default).unwrap();
    assert_eq!(why[0], (None, "names the rows".to_string()));
    assert_eq!(why[1], (Some(Real), "whole numbers, but none of 10 or less".to_string()));
    // By choice, and by the model.
    let types_ = vec![("legs".to_string(), Categorical), ("2".to_string(), Count)];
    let chosen = tabular(&table, &TableOptions { types: types_, ..default.clone() }).unwrap();
    assert_eq!(typed(&chosen).columns()[1].names(), ["0", "2", "4", "6"]);
    assert_eq!(typed(&chosen).columns()[0].kind(), Count);
    let refused = |options: TableOptions, words: &[&str]| {
        let error = tabular(&table, &options).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let all = |kind: Kind| TableOptions { all: Some(kind), ..TableOptions::default() };
    refused(all(Real), &["line 2", "column 'colour' holds 'b'", "no number"]);
    refused(all(Count), &["line 2", "column 'x' holds '0.5'", "no count"]);
    refused(all(Binary), &["column 'age' holds '30'", "neither 0 nor 1"]);
    assert_eq!(typed(&tabular(&table, &all(Categorical)).unwrap()).only_kind(), Some(Categorical));
    let unknown = vec![("who".to_string(), Real)];
    refused(TableOptions { types: unknown, ..default.clone() }, &["no data"]);
    let age = |kinds: &[Kind]| kinds.iter().map(|&kind| ("age".to_string(), kind)).collect();
    let legs = TableOptions { types: age(&[Real]), ..options(&["legs"]) };
    refused(legs, &["--types age=real", "not among those that --columns chooses"]);
    let twice = TableOptions { types: age(&[Real, Count]), ..default.clone() };
    refused(twice, &["--types age=count", "given already, as real"]);
    let by_number = vec![("fed".to_string(), Binary), ("6".to_string(), Binary)];
    refused(TableOptions { types: by_number, ..options(&["fed"]) }, &["given already"]);
    // Numbers that are too large or too small are called so.
    let large = |text: &str, kind: Kind, words: &[&str]| {
        let error = tabular(&raw(text), &all(kind)).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    large("a\n1\n9007199254740993\n", Count, &["line 3", "too large for a count (at most 2e9)"]);
    large("a\n1\ninf\n", Count, &["line 3", "no count"]);
    large("a\n1\n1e151\n", Real, &["line 3", "too large (numbers may be up to 1e150"]);
    large("a\n1\n-1e999\n", Real, &["line 3", "too large"]);
    large("a\n1\ninf\n", Real, &["line 3", "no number"]);
    large(
        "a,b\n1.5e-200,0.5\n2.25e-200,1\n",
        Real,
        &["column 'a'", "standard deviation is 4e-201", "multiply"],
    );
    assert!(tabular(&raw("a,b\n1e-300,1e-300\n1.0,1e-300\n"), &all(Real)).is_ok());
    // Zeros and ones stay what they were, unless they are to be something else.
    let zeros = raw("a,b\n1,0\n0,0\n1,1\n");
    assert_eq!(tabular(&zeros, &default).unwrap(), binary(&zeros, &default).unwrap());
    assert_eq!(typed(&tabular(&zeros, &all(Count)).unwrap()).only_kind(), Some(Count));
    let words = raw("a,b\n1,mm\n0,nn\n1,oo\n0,pp\n");
    let error = tabular(&words, &default).unwrap_err().to_string();
    assert!(error.contains("column 'b' holds words like 'mm'"), "{error}");
}

#[test]
fn decimal_commas_are_read() {
    let text = "a;b;c\n1,5;2,25;x\n3,5;-1,0;y\n0,5;1e3;x\n1,125;?;y\n";
    let table = table::parse(&mut text.as_bytes(), b';').unwrap();
    let data = tabular(&table, &TableOptions::default()).unwrap();
    assert_eq!(typed(&data).columns()[0].cells(), [1.5, 3.5, 0.5, 1.125]);
    assert_eq!(typed(&data).columns()[1].cells()[..3], [2.25, -1.0, 1000.0]);
    assert_eq!(data.notes[0], "commas in the numbers of 'a', 'b' were read as decimal points");
    let kinds = column_types(&table);
    assert_eq!((kinds[0].kind, kinds[1].kind), (ColumnKind::Real, ColumnKind::Real));
    assert_eq!(types(&table, &TableOptions::default()).unwrap()[0].0, Some(Kind::Real));
    let quoted = raw("a,b\n\"1,5\",1\n\"2,5\",0\n\"1,5\",0\n");
    let data = tabular(&quoted, &TableOptions::default()).unwrap();
    assert_eq!(typed(&data).columns()[0].cells(), [1.5, 2.5, 1.5]);
    let refused = |text: &str, words: &[&str]| {
        let error = tabular(&raw(text), &TableOptions::default()).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    refused("a\n\"1,250\"\n950\n\"2,000\"\n", &["line 2", "column 'a' holds '1,250'", "thousands"]);
    let thousands = "a,b\n\"1,250\",1\n950,0\n\"2,000\",1\n";
    assert!(tabular(&raw(thousands), &options(&["b"])).is_ok(), "another column is chosen");
    refused("a\n1.5\n\"2,5\"\n\"3,5\"\n", &["line 3", "'2,5', with a comma"]);
    refused("a\n\"1,5\"\n\"2,5\"\nn.a.\n\"3,5\"\n", &["line 4", "'n.a.'"]);
    let words = raw("a\n\"1,2\"\n\"1,2,3\"\nx\n\"1,2\"\n\"1,2,3\"\nx\n");
    let data = tabular(&words, &TableOptions::default()).unwrap();
    assert_eq!(typed(&data).columns()[0].names(), ["1,2", "1,2,3", "x"], "these are levels");
}

#[test]
fn columns_that_count_rows_name_them() {
    let table = raw(",a,b\n0,1,0\n1,0,1\n2,1,1\n3,1,0\n4,0,0\n");
    let data = tabular(&table, &TableOptions::default()).unwrap();
    assert_eq!((data.columns.len(), &*data.names[4]), (2, "4"));
    assert!(data.notes[0].starts_with("the first column, which has no title"), "{:?}", data.notes);
    let chosen = tabular(&table, &options(&["1", "a"])).unwrap();
    assert_eq!(chosen.columns, ["1", "a"]);
    let columns = |text: &str| tabular(&raw(text), &TableOptions::default()).unwrap().columns.len();
    assert_eq!(columns("Unnamed: 0,a\n1,0\n2,1\n3,1\n"), 1);
    assert_eq!(columns(",a\n0,0\n1,1\n0,1\n"), 2, "counts nothing");
    assert_eq!(columns("0,1\n1,0\n2,1\n"), 2, "no header");
}

#[test]
fn doubtful_headers_are_noted() {
    let notes =
        |text: &str| tabular(&raw(text), &TableOptions::default()).unwrap().notes.join("\n");
    let row = notes("2019,2020,2021\n1,5,3\n2,4,4\n");
    assert!(
        row.contains("the first line was taken for a row") && row.contains("2019, 2020"),
        "{row}"
    );
    let names = notes("who,2019,2020\nx,1,5\ny,2,4\n");
    assert!(names.contains("for the names of the columns, though some are numbers"), "{names}");
    assert_eq!(notes("1,2\n2,3\n1,2\n"), "");
}

#[test]
fn kinds_of_columns() {
    let table = raw(
        "c,b,i,r,k,t\n1,n,1,1,a,p\n1,y,2,1.5,b,q\n1.0,n,3,?,b,r\n1,n,4,7,a,s\n1,n,5,8,c,t\n1,n,-6,9,c,u\n",
    );
    let types = column_types(&table);
    let kinds: Vec<_> = types.iter().map(|t| t.kind).collect();
    use ColumnKind::{Binary, Categorical, Constant, Integer, Real, Text};
    assert_eq!(kinds, [Constant, Binary, Integer, Real, Categorical, Text]);
    assert_eq!((types[3].distinct, types[3].missing, &*types[4].name), (5, 1, "k"));
}

#[test]
fn real_tables() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/tables/");
    let read =
        |file: &str| std::fs::read_to_string(format!("{folder}{file}.csv")).ok().map(|t| raw(&t));
    let Some(animals) = read("animals50") else {
        eprintln!("SKIPPED: ../shared/data/tables is not there");
        return;
    };
    let default = TableOptions::default();
    let animals = binary(&animals, &default).unwrap();
    assert_eq!((rows(&animals)[0].len(), animals.notes.len()), (85, 0), "'group' is data");
    let zoo = binary(&read("zoo_binary").unwrap(), &default).unwrap();
    assert_eq!((rows(&zoo)[0].len(), zoo.notes.len(), &*zoo.names[0]), (21, 2, "aardvark"));
    for (file, word) in [
        ("zoo", "'legs' holds '4'"),
        ("mushroom", "'cap-shape' holds 'x'"),
        ("iris", "sepal_length_cm"),
        ("galaxies", "velocity"),
    ] {
        let error = binary(&read(file).unwrap(), &default).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let kinds = |file: &str| {
        let data = tabular(&read(file).unwrap(), &default).unwrap();
        let mut kinds: Vec<Kind> = typed(&data).columns().iter().map(Column::kind).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds("zoo"), [Kind::Binary, Kind::Count]);
    assert_eq!(kinds("mushroom"), [Kind::Binary, Kind::Categorical]);
    assert_eq!([kinds("iris"), kinds("galaxies"), kinds("faithful")], [[Kind::Real]; 3]);
    let votes = binary(&read("house_votes84").unwrap(), &default).unwrap();
    assert!(votes.notes.iter().any(|note| note.contains("392 cells are missing")));
    let missing = rows(&votes).concat().iter().filter(|cell| **cell == MISSING).count();
    assert_eq!(missing, 392);
    assert!(binary(&read("mushroom").unwrap(), &options(&["bruises", "gill-size"])).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, rng_seed: prop::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(text in "(([01yn2a?]|id|NaN|inf),){1,3}[01]\n([01yn2a?],[01],[01yx]\n){0,5}", column in prop::option::of("[0-4a-z]")) {
        if let Ok(table) = table::parse(&mut text.as_bytes(), b',') {
            let _ = (column_types(&table), binary(&table, &TableOptions::default()));
            let options = TableOptions { id_column: column.clone(), columns: column.map(|c| vec![c, "1".into()]), label_column: Some("2".into()), ..TableOptions::default() };
            let _ = (binary(&table, &options), tabular(&table, &options), types(&table, &options));
            let _ = tabular(&table, &TableOptions::default());
        }
    }
}
