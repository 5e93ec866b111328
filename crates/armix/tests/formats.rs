//! Real files in every format read to the same network, and what is written reads back the same.

use armix::data::{Data, Dataset, Graph};
use armix::io::{self, NetworkOptions, Options, TableOptions, Wanted};
use armix::{builtin, error::Result};
use std::path::{Path, PathBuf};

fn shared(file: &str) -> Option<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    // The part after a colon chooses something within the file.
    let exists = root.join(file.split(':').next().unwrap_or(file)).exists();
    if !exists {
        eprintln!("SKIPPED: ../shared/data/{file} is not there");
    }
    exists.then(|| root.join(file))
}

fn read(path: &Path) -> Result<Dataset> {
    io::read(path, &Options::default())
}

fn graph(dataset: &Dataset) -> &Graph {
    match &dataset.data {
        Data::Network(graph) => graph,
        _ => panic!("a network was expected"),
    }
}

fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    let from = |u: usize| graph.neighbours(u).iter().map(move |&v| (u as u32, v));
    (0..graph.n()).flat_map(from).filter(|(u, v)| u < v).collect()
}

#[test]
fn raw_files_read_to_the_prepared_networks() {
    for (raw, prepared) in [
        ("raw/football/football.gt.gz", "football"),
        ("raw/football/football.gml", "football"),
        ("raw/caltech36/socfb-Caltech36.mtx", "caltech36"),
        ("raw/caltech36/Caltech36.gml", "caltech36"),
        ("raw/caltech36/Caltech36.net", "caltech36"),
        ("raw/karate/karate.gml", "karate"),
        ("raw/celegans/celegansneural.gml", "celegansneural"),
        ("raw/ego-facebook/facebook_combined.txt.gz", "ego-facebook"),
        ("raw/lesmis/lesmis.gml", "lesmis"),
        ("raw/nips234/NIPS.csv", "nips234"),
        ("raw/usair97/USAir.mat", "usair97"),
        ("raw/usair97/USAir97.net", "usair97"),
        ("raw/usair97/inf-USAir97.mtx", "usair97"),
        ("raw/ca-astroph/arxiv.mat", "ca-astroph"),
        ("raw/hagmann998/connectivity_998.zip:weights.txt", "hagmann998"),
        ("networks/lesmis.wedges", "lesmis"),
        ("networks/celegansneural.directed.wedges", "celegansneural"),
        ("networks/hagmann998.wedges", "hagmann998"),
    ] {
        let (Some(raw), Some(prepared)) =
            (shared(raw), shared(&format!("networks/{prepared}.edges")))
        else {
            continue;
        };
        let (raw_data, prepared) = (read(&raw).unwrap(), read(&prepared).unwrap());
        assert_eq!(graph(&raw_data).n(), graph(&prepared).n(), "{}", raw.display());
        assert!(edges(graph(&raw_data)) == edges(graph(&prepared)), "{}", raw.display());
    }
}

/// The vertices of this file are in another order, so that degrees are compared.
#[test]
fn the_smat_file_has_the_same_degrees() {
    let (Some(smat), Some(prepared)) =
        (shared("raw/caltech36/Caltech36.smat"), shared("networks/caltech36.edges"))
    else {
        return;
    };
    let degrees = |path: &Path| {
        let data = read(path).unwrap();
        let mut degrees: Vec<usize> =
            (0..data.data.n()).map(|v| graph(&data).neighbours(v).len()).collect();
        degrees.sort_unstable();
        degrees
    };
    assert_eq!(degrees(&smat), degrees(&prepared));
}

#[test]
fn facebook_files_just_work() {
    let Some(path) = shared("raw/fb100/Reed98.mat") else { return };
    let data = read(&path).unwrap();
    assert_eq!((graph(&data).n(), graph(&data).edges()), (962, 18812));
    let chosen = read(Path::new(&format!("{}:A", path.display()))).unwrap();
    assert!(graph(&chosen) == graph(&data));
    let wrong = read(Path::new(&format!("{}:B", path.display()))).unwrap_err().to_string();
    assert!(wrong.contains("local_info"), "{wrong}");
}

#[test]
fn archives_list_their_members() {
    let Some(path) = shared("raw/hagmann998/connectivity_998.zip") else { return };
    let message = read(&path).unwrap_err().to_string();
    assert!(message.contains("weights.txt"), "{message}");
}

/// Downsampling as in the paper: the vertices of highest degree, ties by index.
#[test]
fn downsampled_networks_have_the_stated_sizes() {
    let Some(path) = shared("networks/usair97.edges") else { return };
    let network = NetworkOptions { downsample: Some(0.8), ..NetworkOptions::default() };
    let data = io::read(&path, &Options { network, ..Options::default() }).unwrap();
    assert_eq!(graph(&data).n(), 266);
    let lowest = (0..266).map(|v| graph(&data).neighbours(v).len()).min().unwrap();
    assert!(lowest >= 1);
}

#[test]
fn tables_are_read_with_their_names_labels_and_columns() {
    let Some(path) = shared("tables/zoo_binary.csv") else { return };
    let data = read(&path).unwrap();
    let Data::Table(table) = &data.data else { panic!("a table") };
    assert_eq!((table.n(), table.d(), data.names[0].as_str()), (101, 21, "aardvark"));
    assert!(data.notes.iter().any(|note| note.contains("'type'")), "{:?}", data.notes);
    let columns = Some(vec!["hair".to_string(), "milk".to_string()]);
    let options = TableOptions { columns, ..TableOptions::default() };
    let two = io::read(&path, &Options { table: options, ..Options::default() }).unwrap();
    assert_eq!(two.columns, ["hair", "milk"]);
    let Some(votes) = shared("tables/house_votes84.csv") else { return };
    let votes = read(&votes).unwrap();
    assert!(votes.notes.iter().any(|n| n.contains("392 cells are missing")), "{:?}", votes.notes);
    assert_eq!(votes.data.hidden().len(), 392);
}

/// Every format that can be written reads back to the same data.
#[test]
fn what_is_written_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let karate = builtin::load("karate", 1).unwrap().unwrap();
    let endings = "edges txt csv mtx net gml graphml smat mat npy npz edges.gz graphml.gz csv.gz";
    for ending in endings.split(' ') {
        let path = folder.path().join(format!("karate.{ending}"));
        io::write(&karate, &path).unwrap();
        let back =
            io::read(&path, &Options { wanted: Some(Wanted::Network), ..Options::default() })
                .unwrap();
        assert!(graph(&back) == graph(&karate), "{ending}");
        assert_eq!(
            read(&path).unwrap().data,
            karate.data,
            "{ending}, without being told that it is a network"
        );
    }
    let women = builtin::southern_women();
    for ending in ["csv", "tsv", "csv.gz"] {
        let path = folder.path().join(format!("women.{ending}"));
        io::write(&women, &path).unwrap();
        assert_eq!(read(&path).unwrap(), women, "{ending}");
    }
    let path = folder.path().join("women.npy");
    io::write(&women, &path).unwrap();
    assert_eq!(read(&path).unwrap().data, women.data);
    assert!(io::write(&women, &folder.path().join("women.gml")).is_err());
    assert!(io::write(&karate, &folder.path().join("karate.xyz")).is_err());
    let tiny = Dataset::new(Data::Network(Graph::new(3, &[(0, 1), (1, 2)]).unwrap()));
    let error = io::write(&tiny, &folder.path().join("tiny.csv")).unwrap_err().to_string();
    assert!(error.contains("tiny.csv") && error.contains(".json"), "{error}");
    let error = io::write(&karate, &folder.path().join("karate.tsv")).unwrap_err().to_string();
    assert!(error.contains(".json"), "{error}");
    let path = folder.path().join("karate.json.gz");
    io::write(&karate, &path).unwrap();
    assert_eq!(read(&path).unwrap().data, karate.data);
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with("tmp")), "{left:?}");
}

/// Counts and names come back as they were, whatever is in the names.
#[test]
fn counts_and_names_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let text = "Ann Lee\tBob\t2\nBob\tMay, Cid\t3\nAnn Lee\tMay, Cid\t1\nMay, Cid\tDan; Eve\t7\n";
    let file = folder.path().join("given.edges");
    std::fs::write(&file, text).unwrap();
    let network =
        NetworkOptions { weights: vec![io::Weights::Counts], ..NetworkOptions::default() };
    let options = Options { network, wanted: Some(Wanted::Network), ..Options::default() };
    let given = io::read(&file, &options).unwrap();
    assert_eq!(given.names, ["Ann Lee", "Bob", "May, Cid", "Dan; Eve"]);
    for ending in "edges txt csv mtx net gml graphml smat mat npy npz json".split(' ') {
        let path = folder.path().join(format!("back.{ending}"));
        io::write(&given, &path).unwrap();
        // What is JSON says itself what weights are, and refuses to be told.
        let of_weights = if ending == "json" { &Options::default() } else { &options };
        let back = io::read(&path, of_weights).unwrap();
        assert_eq!(back.data, given.data, "{ending}");
        let named = ["edges", "txt", "csv", "net", "gml", "graphml", "json"].contains(&ending);
        assert_eq!(back.names == given.names, named, "{ending}");
        // Without being told that it is a network; as a list of edges it would be none of counts.
        let plain = read(&path).unwrap();
        assert!(matches!(plain.data, Data::Network(_) | Data::Relations(_)), "{ending}");
        assert_eq!(plain.names, back.names, "{ending}");
    }
}
