import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Local files without permissions and links, for which Hadoop starts processes where its native code is missing. */
public final class PlainFiles extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) {}

    @Override
    public FileStatus getFileLinkStatus(Path path) throws java.io.IOException {
        return getFileStatus(path);
    }
}
