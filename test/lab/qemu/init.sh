#!/bin/sh
# The first process of a guest: it loads modules, puts this guest's layer over the
# host's files, makes the device for RDMA and lets the host in. What it says after
# "netdyno: " is read by the host.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
fail() {
  echo "netdyno: failed: $*"
  while :; do sleep 60; done
}
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t devtmpfs dev /dev || fail "mount the kernel's files"
while read -r module; do
  insmod "/modules/$module" || fail "load module $module"
done </modules/order
for word in $(cat /proc/cmdline); do
  case $word in
  netdyno.host=*) host=${word#*=} ;;
  netdyno.address=*) address=${word#*=} ;;
  netdyno.data=*) data=${word#*=} ;;
  esac
done
hostname "$host"

# The host's files under a layer in memory. Beneath the mount points of the kernel's
# files, of temporary and of running ones, are the guest's own.
over=trans=virtio,version=9p2000.L,msize=512000
mkdir -p /lower /layer /root /rig
mount -t 9p -o "ro,cache=loose,$over" host /lower || fail "mount the host's files"
mount -t 9p -o "ro,cache=none,$over" rig /rig || fail "mount the rig's files"
mount -t tmpfs layer /layer && mkdir /layer/upper /layer/work || fail "make a layer"
mount -t overlay -o lowerdir=/lower,upperdir=/layer/upper,workdir=/layer/work files /root || fail "lay the guest's files over the host's"
mount -t tmpfs run /root/run && mount -t tmpfs tmp /root/tmp || fail "mount temporary files"
chmod 1777 /root/tmp
for kind in proc sys dev; do
  mount -o move /$kind /root/$kind || fail "move /$kind"
done
mkdir -p /root/dev/pts /root/dev/shm
mount -t devpts devpts /root/dev/pts && mount -t tmpfs shm /root/dev/shm || fail "mount terminals and shared memory"

# Who comes in has a plain shell and an empty home.
home=/run/netdyno
mkdir -p /root$home/.ssh
cp /rig/key.pub /root$home/.ssh/authorized_keys && cp /rig/host-key /root$home/host-key || fail "copy the keys"
chmod -R go= /root$home
echo "root:x:0:0:root:$home:/bin/sh" >/root/etc/passwd
echo "127.0.0.1 localhost $host" >/root/etc/hosts
echo "$host" >/root/etc/hostname

# UCX takes a packet for lost whose address it does not expect, as those of Soft-RoCE,
# and the first GID is one that an interface made of itself.
printf 'UCX_UD_VERBS_ETH_DGID_CHECK=n\nUCX_IB_GID_INDEX=1\n' >/root$home/ucx.conf

ip link set lo up
ip link set eth0 up && ip address add 10.0.2.15/24 dev eth0 || fail "set up eth0, by which the host comes in"
ip link set "$data" mtu 9000 && ip link set "$data" up && ip address add "$address/24" dev "$data" || fail "set up $data, the data network"
said=$(chroot /root rdma link add rxe0 type rxe netdev "$data" 2>&1) || fail "make the device for RDMA: $said"
ulimit -l unlimited
said=$(chroot /root dropbear -r $home/host-key -s -j -k -p 10.0.2.15:22 2>&1) || fail "start dropbear: $said"
echo "netdyno: ready"
while :; do sleep 60; done
