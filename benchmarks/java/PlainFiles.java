import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Local files without permissions, links and checksums. Hadoop starts processes for the first two where its native code
 * is missing. It has to be a LocalFileSystem: RocksDB's snapshots are copied from one.
 */
public final class PlainFiles extends LocalFileSystem {
    public PlainFiles() {
        super(new Raw());
        setWriteChecksum(false);
        setVerifyChecksum(false);
    }

    private static final class Raw extends RawLocalFileSystem {
        @Override
        public void setPermission(Path path, FsPermission permission) {}

        @Override
        public FileStatus getFileLinkStatus(Path path) throws IOException {
            return getFileStatus(path);
        }
    }
}
