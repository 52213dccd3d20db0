/// Whether the database's disk has room for another page: what is read and committed needs none.
public enum DiskTrial {
    /// Spills what a function returns into a temporary file, which leaves nothing: no row, no entry in the catalogue, no
    /// write-ahead log. Fails with 53100 where the disk is full.
    public static let script = """
        set local work_mem = '64kB'; set local temp_tablespaces = '';
        select count(*) from generate_series(1, 10000)
        """
}
